"""DigitalOcean: its page gives a token, and the token a key for its models.

The key outlives the token, which is kept to list routers and to delete the key again.
Source: https://docs.digitalocean.com/reference/api/oauth/ (client application flow).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from urllib.parse import quote, urlencode

from ..json import JsonObject
from ..secret import Secret
from ..texts import gettext_noop
from .attempts import require_open
from .base import SignIn, register_sign_in
from .errors import BadCode, SignedOut, SignInError
from .grants import ATTEMPT_S, Begun, Grant
from .http import Http, Reply
from .methods import Method, key_method
from .oauth import BY_ADDRESS, name_of_account
from .pasted import fields_of

_CLIENT_ID = "b1a6c5158156caac821fd1b30253ca8acb52454a48fa744420e41889cb589f82"
_PAGE = "https://cloud.digitalocean.com/v1/oauth/authorize"
_REDIRECT_URI = "http://localhost:1456/auth/callback"
_API = "https://api.digitalocean.com/v2"
_KEYS = f"{_API}/gen-ai/models/api_keys"
_ROUTERS = f"{_API}/gen-ai/models/routers"
_NO_TOKEN = gettext_noop(
    "Paste the complete address that the browser shows after you sign in, including "
    "everything after #."
)
_NOT_DELETED = gettext_noop(
    "The key could not be deleted, because the sign-in has expired. Delete it at DigitalOcean."
)


class DigitalOcean(SignIn):
    """Signs in at DigitalOcean by the implicit grant."""

    revoke_page = "https://cloud.digitalocean.com/gen-ai/model-access-keys"

    async def begin(
        self, method: str, inputs: Mapping[str, str], http: Http, *, redirect_uri: str = ""
    ) -> Begun:
        """Begin to sign in. Raises: SignInError."""
        if self.method(method).kind == "key":
            return await super().begin(method, inputs, http)
        nonce = secrets.token_urlsafe(32)
        asked = {
            "response_type": "token",
            "client_id": _CLIENT_ID,
            "redirect_uri": _REDIRECT_URI,
            "scope": "read write",
            "state": nonce,
        }
        url = f"{_PAGE}?{urlencode(asked, quote_via=quote)}"
        state: JsonObject = {"nonce": nonce, "expires_at": time.time() + ATTEMPT_S}
        return Begun(url, BY_ADDRESS, state, redirect_uri=_REDIRECT_URI)

    async def finish(self, state: JsonObject, pasted: str, http: Http) -> Grant:
        """Create a key with the token in the address. Raises: as `SignIn.finish`."""
        require_open(state, datetime.now(UTC))
        # A token could be anybody's: unlike a code with PKCE, it is never taken alone.
        fields = fields_of(pasted, nonce=str(state["nonce"]))
        token = Secret(fields.get("access_token", ""))
        if not token:
            raise BadCode(_NO_TOKEN)
        name = f"opencode-oauth-{int(time.time())}"
        reply = await http.ask("POST", _KEYS, data={"name": name}, bearer=token)
        made = reply.body.get("api_key_info")
        if not reply.is_success or not isinstance(made, dict):
            raise SignInError
        key = Reply(reply.status, made)
        return Grant(
            Secret(key.text("secret_key")),
            account=await name_of_account(http, f"{_API}/account", token, "account", "email"),
            extra={"token": token.reveal(), "key_id": key.text("uuid")},
        )

    async def revoke(self, grant: Grant, http: Http) -> None:
        """Delete the key that was made for us; a pasted one stays.

        Raises: SignedOut where the token has ended before; Unavailable; SignInError.
        """
        if "key_id" not in grant.extra:
            return
        url = f"{_KEYS}/{quote(str(grant.extra['key_id']), safe='')}"
        reply = await http.ask("DELETE", url, bearer=_token(grant))
        if reply.status == HTTPStatus.UNAUTHORIZED:
            raise SignedOut(_NOT_DELETED)
        if reply.status >= HTTPStatus.BAD_REQUEST and reply.status != HTTPStatus.NOT_FOUND:
            raise SignInError


async def list_routers(grant: Grant, http: Http) -> dict[str, JsonObject]:
    """Returns: id of a model -> description, for each router of the account; none for a key alone.

    Raises: SignedOut where the token has ended; Unavailable; SignInError.
    """
    if "token" not in grant.extra:
        return {}
    reply = await http.ask("GET", _ROUTERS, bearer=_token(grant))
    if reply.status == HTTPStatus.UNAUTHORIZED:
        raise SignedOut
    if not reply.is_success:
        raise SignInError
    routers = reply.body.get("model_routers")
    names = [
        router["name"]
        for router in (routers if isinstance(routers, list) else ())
        if isinstance(router, dict) and isinstance(router.get("name"), str)
    ]
    return {f"router:{name}": {"name": name, "tool_call": True} for name in names}


def _token(grant: Grant) -> Secret:
    return Secret(str(grant.extra["token"]))


register_sign_in(
    DigitalOcean(
        "digitalocean",
        Method("browser", "code", gettext_noop("Login with DigitalOcean")),
        key_method("Paste Model Access Key"),
    )
)
