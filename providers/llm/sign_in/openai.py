"""OpenAI by a ChatGPT plan, and the models that a plan includes.

Source: the flows of OpenAI's Codex, https://github.com/openai/codex.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus

from ..adapters.openai import CHATGPT_URL
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
from .base import register_sign_in
from .claims import email_in, read_claims
from .errors import SignInError
from .grants import ATTEMPT_S, MAX_USER_CODE_CHARS, Begun, Grant, Pending
from .http import Http, Reply
from .methods import Method, key_method
from .oauth import BY_CODE, OAuth, Server, refusal

_ISSUER = "https://auth.openai.com"
_DEVICE = f"{_ISSUER}/api/accounts/deviceauth"
_CLIENT_ID = "app_EMoamEEZ73f0CkXaXp7hrann"
_CLAIM = "https://api.openai.com/auth"
_DEFAULT_LIFETIME_S = 3_600.0
_SERVER = Server(
    client_id=_CLIENT_ID,
    authorize_url=f"{_ISSUER}/oauth/authorize",
    token_url=f"{_ISSUER}/oauth/token",
    revoke_url=f"{_ISSUER}/oauth/revoke",
    redirect_uri="http://localhost:1455/auth/callback",
    scope="openid profile email offline_access",
    params={
        "id_token_add_organizations": "true",
        "codex_cli_simplified_flow": "true",
        "originator": "opencode",
    },
)
_ON_PLAN = frozenset({"gpt-5.5", "gpt-5.4", "gpt-5.4-mini", "gpt-5.3-codex-spark"})
_VERSION = re.compile(r"gpt-(\d+)\.(\d+)")
_NEWER_THAN = (5, 4)
_LIMITS: dict[str, JsonObject] = {
    "gpt-5.5": {"context": 400_000, "input": 272_000, "output": 128_000}
}


class OpenAI(OAuth):
    """Signs in with ChatGPT: on its page, or with a code in a flow of its own."""

    def server(self, inputs: Mapping[str, str]) -> Server:
        """Returns: OpenAI's."""
        return _SERVER

    def keyed(self, key: Secret, inputs: Mapping[str, str]) -> Grant:
        """Returns: the grant of an API key, which has no account with ChatGPT."""
        return Grant(key)

    def grant(self, reply: Reply, inputs: Mapping[str, str]) -> Grant:
        """Returns: a grant that is billed to the plan."""
        refresh = reply.body.get("refresh_token")
        account = account_of(reply)
        return Grant(
            Secret(reply.text("access_token")),
            Secret(refresh) if isinstance(refresh, str) and refresh else None,
            expires_at=in_seconds(reply.seconds("expires_in") or _DEFAULT_LIFETIME_S),
            account=email_in(reply),
            connection={"chatgpt_account": account} if account else {},
            base_url=CHATGPT_URL,
        )

    def adopted(
        self,
        access: Secret,
        refresh: Secret | None,
        expires_at: datetime | None,
        *,
        account: str = "",
        domain: str = "",
    ) -> Grant:
        """Returns: the grant of a plan, which `account` pays."""
        connection = {"chatgpt_account": account} if account else {}
        return Grant(access, refresh, expires_at, connection=connection, base_url=CHATGPT_URL)

    async def begin_device(self, state: JsonObject, http: Http) -> Begun:
        """Ask for a code that the person enters. Raises: Unavailable; SignInError."""
        reply = await http.ask("POST", f"{_DEVICE}/usercode", data={"client_id": _CLIENT_ID})
        if not reply.is_success:
            raise SignInError
        interval_s = reply.seconds("interval") or DEFAULT_INTERVAL_S
        user_code = reply.text("user_code", most=MAX_USER_CODE_CHARS)
        state = {
            **state,
            "device_auth_id": reply.text("device_auth_id"),
            "user_code": user_code,
            "interval_s": interval_s,
            "expires_at": time.time() + ATTEMPT_S,
            "redirect_uri": f"{_ISSUER}/deviceauth/callback",
        }
        return Begun(
            f"{_ISSUER}/codex/device",
            BY_CODE,
            state,
            user_code=user_code,
            interval_s=interval_s + POLL_MARGIN_S,
        )

    async def poll(self, state: JsonObject, http: Http, now: datetime) -> Grant | Pending:
        """Ask whether the person is done; if so, exchange the code that comes then."""
        if "device_auth_id" not in state:
            return await super().poll(state, http, now)
        require_open(state, now)
        asked: JsonObject = {name: state[name] for name in ("device_auth_id", "user_code")}
        reply = await http.ask("POST", f"{_DEVICE}/token", data=asked)
        if reply.status in {HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND}:
            return pending(state, number_in(state, "interval_s"))
        if not reply.is_success:
            raise refusal(reply)
        code, verifier = reply.text("authorization_code"), reply.text("code_verifier")
        return await self.exchange(code, verifier, state, http)


def account_of(reply: Reply) -> str:
    """Returns: the account that pays, from the tokens of an answer; "" if unknown."""
    for name in ("id_token", "access_token"):
        claims = read_claims(reply.body.get(name))
        own = claims.get(_CLAIM)
        organizations = claims.get("organizations")
        first = organizations[0] if isinstance(organizations, list) and organizations else None
        candidates: tuple[JsonValue, ...] = (
            claims.get("chatgpt_account_id"),
            own.get("chatgpt_account_id") if isinstance(own, dict) else None,
            first.get("id") if isinstance(first, dict) else None,
        )
        for candidate in candidates:
            if isinstance(candidate, str) and candidate:
                return candidate
    return ""


def plan_models(catalog: Mapping[str, JsonObject]) -> dict[str, JsonObject]:
    """Returns: what a plan includes of OpenAI's models, described as the plan serves them.

    The plan is paid for by itself, so that a token costs nothing.
    """
    free: JsonObject = {"input": 0, "output": 0, "cache_read": 0, "cache_write": 0}
    return {
        model_id: {
            **description,
            "cost": free,
            **({"limit": _LIMITS[model_id]} if model_id in _LIMITS else {}),
        }
        for model_id, description in catalog.items()
        if _is_on_plan(model_id)
    }


def _is_on_plan(model_id: str) -> bool:
    version = _VERSION.match(model_id)
    is_newer = version is not None and (int(version[1]), int(version[2])) > _NEWER_THAN
    return is_newer or model_id in _ON_PLAN


register_sign_in(
    OpenAI(
        "openai",
        Method("browser", "code", gettext_noop("ChatGPT Pro/Plus (browser)")),
        Method("device", "device", gettext_noop("ChatGPT Pro/Plus (headless)")),
        key_method("API key"),
    )
)
