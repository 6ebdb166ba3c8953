"""OAuth 2 as providers speak it: PKCE, the device flow, and what they add to either.

A provider is described by a `Server`; what else is its own, a subclass of `OAuth` says.
Sources: RFC 6749, 7009 (revocation), 7636 (PKCE), 8628 (device).
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http import HTTPStatus
from urllib.parse import quote, urlencode

from ..json import JsonObject, JsonValue
from ..secret import Secret
from ..texts import gettext_noop
from .attempts import (
    DEFAULT_INTERVAL_S,
    POLL_MARGIN_S,
    in_seconds,
    number_in,
    pending,
    require_open,
)
from .base import SignIn
from .claims import shown
from .errors import BadCode, Denied, Expired, SignedOut, SignInError
from .grants import (
    ATTEMPT_S,
    MAX_PAGE_CHARS,
    MAX_USER_CODE_CHARS,
    Begun,
    Grant,
    Pending,
)
from .http import Http, Reply
from .pasted import read_pasted

DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
SLOWER_S = 5.0
_DENIED = frozenset({"access_denied", "authorization_denied"})
_ENDED = frozenset(
    {"invalid_grant", "invalid_token", "refresh_token_reused", "refresh_token_expired",
     "refresh_token_invalidated", "token_expired", "token_revoked"}
)  # fmt: skip
BY_CODE = gettext_noop("Open the page, sign in, and enter the code.")
BY_ADDRESS = gettext_noop(
    "Sign in on the page. Your browser then tries to open a page that does not load. "
    "Copy the complete address from the address bar and paste it here."
)
BY_RETURN = gettext_noop("Sign in on the page. It then redirects you here.")


@dataclass(frozen=True, slots=True)
class Server:
    """Where and as which client a provider is signed in to.

    `redirect_uri` is the one that the provider knows; "" where it knows the caller's.
    `params` go into the address of the page beside the usual ones.
    """

    client_id: str
    token_url: str
    authorize_url: str = ""
    device_url: str = ""
    revoke_url: str = ""
    redirect_uri: str = ""
    scope: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    # Of a client that proves itself by HTTP Basic.
    client_secret: str = ""
    takes_json: bool = False


class OAuth(SignIn, ABC):
    """A provider that is signed in to on a page of its own."""

    @abstractmethod
    def server(self, inputs: Mapping[str, str]) -> Server:
        """Returns: where to sign in, by the answers to the prompts."""

    def grant(self, reply: Reply, inputs: Mapping[str, str]) -> Grant:
        """Returns: what the token endpoint has granted. Raises: Unavailable."""
        refresh = reply.body.get("refresh_token")
        return Grant(
            Secret(reply.text("access_token")),
            Secret(refresh) if isinstance(refresh, str) and refresh else None,
            expires_at=in_seconds(reply.seconds("expires_in")),
            connection=inputs,
        )

    async def named(self, grant: Grant, http: Http) -> Grant:
        """Returns: a new grant with the name of its account, where that has to be asked for."""
        return grant

    async def begin(
        self, method: str, inputs: Mapping[str, str], http: Http, *, redirect_uri: str = ""
    ) -> Begun:
        """Begin to sign in. Raises: BadInput; SignInError."""
        chosen = self.method(method)
        given = chosen.checked(inputs)
        if chosen.kind == "key":
            return await super().begin(method, inputs, http)
        state: JsonObject = {"method": method, "inputs": dict[str, JsonValue](given)}
        if chosen.kind == "device":
            return await self.begin_device(state, http)
        return self.begin_page(state, redirect_uri)

    def begin_page(self, state: JsonObject, redirect_uri: str) -> Begun:
        """Make the address of the page, and what proves later who has begun there."""
        server = self.server(_inputs(state))
        redirect_uri = server.redirect_uri or redirect_uri
        verifier, nonce = secrets.token_urlsafe(48), secrets.token_urlsafe(32)
        challenge = hashlib.sha256(verifier.encode()).digest()
        asked = {
            "response_type": "code",
            "client_id": server.client_id,
            "redirect_uri": redirect_uri,
            "scope": server.scope,
            "code_challenge": base64url(challenge),
            "code_challenge_method": "S256",
            "state": nonce,
            **server.params,
        }
        state = {
            **state,
            "verifier": verifier,
            "nonce": nonce,
            "redirect_uri": redirect_uri,
            "expires_at": time.time() + ATTEMPT_S,
        }
        instructions = BY_ADDRESS if server.redirect_uri else BY_RETURN
        url = f"{server.authorize_url}?{urlencode(asked, quote_via=quote)}"
        return Begun(url, instructions, state, redirect_uri=redirect_uri)

    async def begin_device(self, state: JsonObject, http: Http) -> Begun:
        """Ask for a code that the person enters. Raises: Unavailable; SignInError."""
        server = self.server(_inputs(state))
        reply = await _post(
            http, server, server.device_url, {"client_id": server.client_id, "scope": server.scope}
        )
        if not reply.is_success:
            raise SignInError
        lifetime_s = reply.seconds("expires_in") or ATTEMPT_S
        interval_s = reply.seconds("interval") or DEFAULT_INTERVAL_S
        state = {
            **state,
            "device_code": reply.text("device_code"),
            "interval_s": interval_s,
            "expires_at": time.time() + lifetime_s,
        }
        complete = reply.body.get("verification_uri_complete")
        url = complete if isinstance(complete, str) and complete else reply.text("verification_uri")
        return Begun(
            page_address(url),
            BY_CODE,
            state,
            user_code=reply.text("user_code", most=MAX_USER_CODE_CHARS),
            interval_s=interval_s + POLL_MARGIN_S,
            expires_in_s=lifetime_s,
        )

    async def poll(self, state: JsonObject, http: Http, now: datetime) -> Grant | Pending:
        """Ask whether the person is done."""
        if "device_code" not in state:
            return await super().poll(state, http, now)
        require_open(state, now)
        server = self.server(_inputs(state))
        form = {
            "client_id": server.client_id,
            "device_code": str(state["device_code"]),
            "grant_type": DEVICE_GRANT,
        }
        reply = await _post(http, server, server.token_url, form)
        if reply.is_success:
            return await self.named(self.grant(reply, _inputs(state)), http)
        if reply.error == "authorization_pending":
            return pending(state, number_in(state, "interval_s"))
        if reply.error == "slow_down":
            # RFC 8628: 5 seconds more for this and all later requests; GitHub says the whole.
            slower_s = number_in(state, "interval_s") + SLOWER_S
            return pending(state, max(reply.seconds("interval") or 0.0, slower_s))
        if reply.error in {"expired_token", "invalid_grant"}:
            raise Expired
        raise refusal(reply)

    async def finish(self, state: JsonObject, pasted: str, http: Http) -> Grant:
        """Exchange the code for tokens."""
        if "verifier" not in state:
            return await super().finish(state, pasted, http)
        require_open(state, datetime.now(UTC))
        code = read_pasted(pasted, nonce=str(state["nonce"]))
        return await self.exchange(code, str(state["verifier"]), state, http)

    async def exchange(self, code: str, verifier: str, state: JsonObject, http: Http) -> Grant:
        """Returns: what a code is good for. Raises: BadCode; Denied; Unavailable; SignInError."""
        server = self.server(_inputs(state))
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": str(state["redirect_uri"]),
            "client_id": server.client_id,
            "code_verifier": verifier,
        }
        reply = await _post(http, server, server.token_url, form)
        if reply.is_success:
            return await self.named(self.grant(reply, _inputs(state)), http)
        if reply.error == "invalid_grant":
            raise BadCode
        raise refusal(reply)

    async def refresh(self, grant: Grant, http: Http) -> Grant:
        """Returns: the grant that takes its place."""
        if grant.refresh is None:
            return await super().refresh(grant, http)
        server = self.server(grant.connection)
        form = {
            "grant_type": "refresh_token",
            "refresh_token": grant.refresh.reveal(),
            "client_id": server.client_id,
        }
        reply = await _post(http, server, server.token_url, form)
        if not reply.is_success:
            has_ended = reply.error in _ENDED or reply.status == HTTPStatus.UNAUTHORIZED
            raise SignedOut if has_ended else SignInError
        new = self.grant(reply, grant.connection)
        return replace(
            new,
            refresh=new.refresh or grant.refresh,
            account=new.account or grant.account,
            connection={**grant.connection, **new.connection},
        )

    async def revoke(self, grant: Grant, http: Http) -> None:
        """Have the provider forget both tokens; one that it does not know is no error.

        A pasted key stays: whoever has made it may use it elsewhere.
        """
        if grant.refresh is None:
            return
        server = self.server(grant.connection)
        if not server.revoke_url:
            return
        form = {
            "token": grant.refresh.reveal(),
            "token_type_hint": "refresh_token",
            "client_id": server.client_id,
        }
        reply = await _post(http, server, server.revoke_url, form)
        if not reply.is_success and reply.error not in _ENDED:
            raise SignInError


def refusal(reply: Reply) -> SignInError:
    """Returns: what an answer means that nothing more exact is known of."""
    return Denied() if reply.error in _DENIED else SignInError()


def page_address(url: str) -> str:
    """Returns: an address that a person may be sent to. Raises: SignInError for any other."""
    if not url.startswith("https://") or len(url) > MAX_PAGE_CHARS:
        raise SignInError
    return url


async def name_of_account(http: Http, url: str, access: Secret, *path: str) -> str:
    """Ask the provider's API who has signed in.

    Returns: the text at the path in its answer; "" where it does not say: a name is all it is for.
    """
    try:
        found: JsonValue = (await http.ask("GET", url, bearer=access)).body
    except SignInError:
        return ""
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return shown(found)


async def _post(http: Http, server: Server, url: str, form: dict[str, str]) -> Reply:
    if server.takes_json:
        return await http.ask("POST", url, data=dict[str, JsonValue](form))
    headers = {}
    if server.client_secret:
        pair = f"{server.client_id}:{server.client_secret}".encode()
        headers["authorization"] = f"Basic {base64.b64encode(pair).decode()}"
    return await http.ask("POST", url, form=form, headers=headers)


def _inputs(state: JsonObject) -> dict[str, str]:
    inputs = state["inputs"]
    assert isinstance(inputs, dict)
    return {key: str(value) for key, value in inputs.items()}


def base64url(data: bytes) -> str:
    """Returns: the text of some bytes, without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
