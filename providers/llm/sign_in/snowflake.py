"""Snowflake Cortex: the account's own page, by the client that every account has.

Source: https://docs.snowflake.com/en/user-guide/oauth-local-applications.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from urllib.parse import quote

from ..adapters.snowflake import ACCOUNT, BAD_ACCOUNT, cortex_url
from ..secret import Secret
from ..texts import gettext_noop
from .attempts import in_seconds
from .base import register_sign_in
from .claims import shown
from .errors import BadInput, SignedOut, SignInError
from .grants import Grant
from .http import Http, Reply
from .methods import Method, Prompt, key_method, matching
from .oauth import OAuth, Server

_CLIENT = "LOCAL_APPLICATION"
_DEFAULT_LIFETIME_S = 600.0
_PLAIN_ROLE = re.compile(r"[-_A-Za-z0-9]+")
_NO_REFRESH = gettext_noop(
    "Snowflake did not issue a refresh token. Ask an administrator to allow refresh "
    "tokens for local applications, or use a programmatic access token."
)
_ACCOUNT = Prompt(
    "account",
    gettext_noop("Snowflake Account Identifier"),
    placeholder="myorg-myaccount",
    read=matching(ACCOUNT, BAD_ACCOUNT),
)
_ROLE = Prompt(
    "role", gettext_noop("Role (optional)"), placeholder="CORTEX_USER", is_required=False
)


class Snowflake(OAuth):
    """Signs in at an account."""

    def server(self, inputs: Mapping[str, str]) -> Server:
        """Returns: the account's. Raises: SignedOut for a grant that does not name it."""
        if "account" not in inputs:
            raise SignedOut
        address = f"https://{inputs['account']}.snowflakecomputing.com/oauth"
        return Server(
            client_id=_CLIENT,
            client_secret=_CLIENT,
            authorize_url=f"{address}/authorize",
            token_url=f"{address}/token-request",
            # Any port of this machine is known to Snowflake. Nobody has to listen there.
            redirect_uri="http://127.0.0.1:1458/",
            scope=_scope(inputs.get("role", "")),
        )

    def keyed(self, key: Secret, inputs: Mapping[str, str]) -> Grant:
        """Returns: the grant of a programmatic access token."""
        return Grant(key, connection=inputs, base_url=cortex_url(inputs["account"]))

    def adopted(
        self,
        access: Secret,
        refresh: Secret | None,
        expires_at: datetime | None,
        *,
        account: str = "",
        domain: str = "",
    ) -> Grant:
        """Returns: the grant of tokens for the account `account`. Raises: BadInput."""
        try:
            name = _ACCOUNT.checked(account)
        except ValueError as exc:
            raise BadInput({"accountId": str(exc)}) from exc
        return replace(
            self.keyed(access, {"account": name}),
            refresh=refresh,
            expires_at=expires_at,
            account=name,
        )

    async def named(self, grant: Grant, http: Http) -> Grant:
        """Returns: the grant. Raises: SignInError for one that would end within minutes."""
        if grant.refresh is None:
            raise SignInError(_NO_REFRESH)
        return grant

    def grant(self, reply: Reply, inputs: Mapping[str, str]) -> Grant:
        """Returns: a grant for the account."""
        grant = super().grant(reply, inputs)
        user = shown(reply.body.get("username"))
        return replace(
            grant,
            expires_at=grant.expires_at or in_seconds(_DEFAULT_LIFETIME_S),
            account=f"{user} ({inputs['account']})" if user else inputs["account"],
            base_url=cortex_url(inputs["account"]),
        )


def _scope(role: str) -> str:
    if not role:
        return "refresh_token"
    name = f"role:{role}" if _PLAIN_ROLE.fullmatch(role) else f"role-encoded:{quote(role, safe='')}"
    return f"refresh_token session:{name}"


register_sign_in(
    Snowflake(
        "snowflake-cortex",
        Method("browser", "code", gettext_noop("Login with Snowflake"), (_ACCOUNT, _ROLE)),
        key_method("Programmatic access token", _ACCOUNT),
    )
)
