"""How one provider is signed in to, and the table of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from ..json import JsonObject
from ..secret import Secret
from ..texts import gettext_noop
from .errors import BadInput, SignedOut, SignInError
from .grants import Begun, Grant, Pending
from .http import Http
from .methods import MISSING, Method

_NO_SUCH_METHOD = gettext_noop("This provider does not support this way to sign in.")
_NOT_BY_PAGE = gettext_noop("This sign-in has no page. Paste a key instead.")
_NOT_BY_CODE = gettext_noop("This sign-in does not use a code. Finish it on the provider's page.")
_KEY_EXPIRED = gettext_noop("The key has expired. Sign in again.")


class SignIn:
    """A provider. As it is, it takes pasted keys; flows of the provider's own subclass it."""

    # How long before its end a grant is refreshed.
    refresh_early_s = 60.0
    # Where a person takes the access back, at providers that no program can ask for it.
    revoke_page = ""

    def __init__(self, provider_id: str, *methods: Method) -> None:
        self.provider_id = provider_id
        self.methods = methods

    def method(self, method_id: str) -> Method:
        """Returns: one of its methods. Raises: SignInError where there is none of this id."""
        for method in self.methods:
            if method.id == method_id:
                return method
        raise SignInError(_NO_SUCH_METHOD)

    def with_key(self, method: str, inputs: Mapping[str, str], key: str) -> Grant:
        """Returns: the grant that a pasted key is. Raises: BadInput; SignInError."""
        given = self.method(method).checked(inputs)
        if not key.strip():
            raise BadInput({"key": MISSING})
        return self.keyed(Secret(key.strip()), given)

    def keyed(self, key: Secret, inputs: Mapping[str, str]) -> Grant:
        """Returns: the grant of a key and the checked answers to the prompts of its method."""
        return Grant(key, connection=inputs)

    def adopted(
        self,
        access: Secret,
        refresh: Secret | None,
        expires_at: datetime | None,
        *,
        account: str = "",
        domain: str = "",
    ) -> Grant:
        """Returns: the grant of tokens that another program has signed in for.

        `account` and `domain` are what such programs keep with them.
        Raises: BadInput where these do not say whose account it is.
        """
        asked = (prompt for method in self.methods for prompt in method.prompts)
        if faults := {prompt.key: MISSING for prompt in asked if prompt.is_required}:
            raise BadInput(faults)
        return Grant(access, refresh, expires_at, account=account)

    async def begin(
        self, method: str, inputs: Mapping[str, str], http: Http, *, redirect_uri: str = ""
    ) -> Begun:
        """Begin to sign in.

        `redirect_uri` is the caller's own address; providers that know another ignore it.
        Raises: BadInput; SignInError.
        """
        raise SignInError(_NOT_BY_PAGE)

    async def poll(self, state: JsonObject, http: Http, now: datetime) -> Grant | Pending:
        """Ask whether the person is done. Raises: Denied; Expired; Unavailable; SignInError."""
        raise SignInError(_NOT_BY_PAGE)

    async def finish(self, state: JsonObject, pasted: str, http: Http) -> Grant:
        """Finish with the address or the code that the person brings back.

        Raises: BadCode; Denied; Expired; Unavailable; SignInError.
        """
        raise SignInError(_NOT_BY_CODE)

    async def refresh(self, grant: Grant, http: Http) -> Grant:
        """Returns: the grant that takes its place; a refresh token may be used only once.

        Raises: SignedOut for good; Unavailable.
        """
        if grant.expires_at is None:
            return grant
        raise SignedOut(_KEY_EXPIRED)

    async def revoke(self, grant: Grant, http: Http) -> None:
        """Have the provider forget it. Raises: Unavailable; SignInError."""


_sign_ins: dict[str, SignIn] = {}


def register_sign_in(sign_in: SignIn) -> None:
    """Have its provider signed in to by it; the last one given counts."""
    _sign_ins[sign_in.provider_id] = sign_in


def sign_in_of(provider_id: str) -> SignIn | None:
    """Returns: how a provider is signed in to; None where all it takes is a plain key."""
    return _sign_ins.get(provider_id)


def sign_in_ids() -> list[str]:
    """Returns: the providers that can be signed in to in more ways than by a plain key."""
    return sorted(_sign_ins)


def methods_of(provider_id: str) -> tuple[Method, ...]:
    """Returns: the ways to sign in; none where all a provider takes is a plain key."""
    sign_in = sign_in_of(provider_id)
    return sign_in.methods if sign_in else ()
