"""GitLab Duo, at gitlab.com or at an instance of one's own.

An OAuth application belongs to one instance and to the address of the server that it leads back
to, so whoever runs a server registers one there and hands it over:

    register_sign_in(GitLab(client_id="…", instance="https://gitlab.example.com"))

Source: https://docs.gitlab.com/api/oauth2/.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from http import HTTPStatus

from ..adapters.gitlab import HEADER_PREFIX, TOKEN
from ..json import JsonObject
from ..secret import Secret
from ..texts import gettext_noop
from .attempts import in_seconds
from .base import register_sign_in
from .errors import BadInput, SignedOut, SignInError
from .grants import GITLAB, Grant
from .http import Http, Reply
from .methods import Method, Prompt, key_method
from .oauth import OAuth, Server, name_of_account

# Nothing before the host, and nothing that is no part of a path.
_INSTANCE = re.compile(r"https://[A-Za-z0-9][A-Za-z0-9.-]*(?::\d{1,5})?(?:/[\w.-]+)*", re.A)
_HEADER = re.compile(rf"{HEADER_PREFIX}[a-z0-9-]{{1,60}}", re.I)
# The instance says no end; GitLab's own programs use a token for as long.
_DUO_LIFETIME_S = 1_500.0
_ACCESS_EARLY_S = 300.0
_AT_ONCE = datetime.fromtimestamp(0, UTC)
_NO_DUO = gettext_noop(
    "This GitLab account cannot use GitLab Duo. Ask its administrator for access to the Duo Agent "
    "Platform."
)
_BAD_INSTANCE = gettext_noop("Enter the address of a GitLab server such as https://gitlab.com.")


def instance_of(text: str) -> str:
    """Returns: the address of an instance. Raises: ValueError for what is no https address."""
    found = _INSTANCE.fullmatch(text.strip().rstrip("/"))
    if not found:
        raise ValueError(_BAD_INSTANCE)
    return found[0]


_KEY = key_method(
    "GitLab Personal Access Token",
    Prompt(
        "instanceUrl",
        gettext_noop("Address of your GitLab"),
        placeholder=GITLAB,
        is_required=False,
        read=instance_of,
    ),
)


class GitLab(OAuth):
    """Signs in at one instance; without an application, by a token alone."""

    refresh_early_s = 120.0

    def __init__(self, client_id: str = "", *, instance: str = GITLAB) -> None:
        page = (Method("browser", "code", "GitLab OAuth"),) if client_id else ()
        super().__init__("gitlab", *page, _KEY)
        self._client_id = client_id
        self._instance = instance_of(instance)

    def server(self, inputs: Mapping[str, str]) -> Server:
        """Returns: the instance. Raises: SignedOut for a grant of another one."""
        if inputs.get("instanceUrl", self._instance) != self._instance:
            raise SignedOut
        return Server(
            client_id=self._client_id,
            authorize_url=f"{self._instance}/oauth/authorize",
            token_url=f"{self._instance}/oauth/token",
            revoke_url=f"{self._instance}/oauth/revoke",
            scope="api",
        )

    def keyed(self, key: Secret, inputs: Mapping[str, str]) -> Grant:
        """Returns: the grant of a personal access token, which has to be refreshed before use."""
        instance = inputs.get("instanceUrl", self._instance)
        return Grant(key, expires_at=_AT_ONCE, connection={"instanceUrl": instance})

    def adopted(
        self,
        access: Secret,
        refresh: Secret | None,
        expires_at: datetime | None,
        *,
        account: str = "",
        domain: str = "",
    ) -> Grant:
        """Returns: the grant of a token for the instance `domain`, exchanged before each use.

        Raises: BadInput.
        """
        try:
            instance = instance_of(domain) if domain else self._instance
        except ValueError as exc:
            raise BadInput({"enterpriseUrl": str(exc)}) from exc
        ends = expires_at.timestamp() if expires_at else None
        grant = self.keyed(access, {"instanceUrl": instance})
        return replace(grant, refresh=refresh, account=account, extra={"access_ends_at": ends})

    def grant(self, reply: Reply, inputs: Mapping[str, str]) -> Grant:
        """Returns: a grant that knows when its own token ends, whatever the gateway's does."""
        grant = super().grant(reply, inputs)
        ends = grant.expires_at.timestamp() if grant.expires_at else None
        return replace(
            grant, connection={"instanceUrl": self._instance}, extra={"access_ends_at": ends}
        )

    async def named(self, grant: Grant, http: Http) -> Grant:
        """Returns: the grant with the name of the person, and with tokens for the gateway.

        Raises: SignInError for an account without GitLab Duo.
        """
        url = f"{self._instance}/api/v4/user"
        name = await name_of_account(http, url, grant.access, "username")
        return await with_duo(replace(grant, account=name), http)

    async def refresh(self, grant: Grant, http: Http) -> Grant:
        """Returns: the grant with other tokens for the gateway, and itself refreshed if need be."""
        if grant.refresh is None or not self._is_due(grant):
            return await with_duo(grant, http)
        new = await super().refresh(grant, http)
        try:
            return await with_duo(new, http)
        except SignInError:
            # Its refresh token is new and must not be lost; the rest is tried at the next call.
            return replace(new, secrets=grant.secrets, expires_at=_AT_ONCE)

    def _is_due(self, grant: Grant) -> bool:
        ends = grant.extra.get("access_ends_at")
        soon = datetime.now(UTC).timestamp() + _ACCESS_EARLY_S
        return isinstance(ends, int | float) and ends <= soon


async def with_duo(grant: Grant, http: Http) -> Grant:
    """Ask the instance for what its gateway is called with.

    Returns: the grant with `duoToken` and the headers that go with it among its `secrets`.
    Raises: SignedOut where the instance takes its token no more, or is not known; SignInError for
    an account without GitLab Duo; Unavailable.
    """
    if "instanceUrl" not in grant.connection:
        raise SignedOut
    flags: JsonObject = {"feature_flags": {"DuoAgentPlatformNext": True}}
    url = f"{grant.connection['instanceUrl']}/api/v4/ai/third_party_agents/direct_access"
    reply = await http.ask("POST", url, data=flags, bearer=grant.access)
    if reply.status == HTTPStatus.UNAUTHORIZED:
        raise SignedOut
    if not reply.is_success:
        raise SignInError(_NO_DUO)
    headers = reply.body.get("headers")
    given = {
        name.lower(): Secret(value)
        for name, value in (headers if isinstance(headers, dict) else {}).items()
        # Never another key, nor what would end the header.
        if _HEADER.fullmatch(name) and isinstance(value, str) and value.isprintable()
    }
    return replace(
        grant,
        expires_at=in_seconds(_DUO_LIFETIME_S),
        secrets={TOKEN: Secret(reply.text("token")), **given},
    )


register_sign_in(GitLab())
