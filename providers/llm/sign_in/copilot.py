"""GitHub Copilot: the device flow, at GitHub itself and at the domains of enterprises.

The token does not expire. GitHub lets only the owner of the OAuth app revoke it.
Source: https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from ..adapters.copilot import enterprise_url
from ..hosts import host_of
from ..secret import Secret
from ..texts import gettext_noop
from .base import register_sign_in
from .grants import GITHUB_DOMAIN, Grant
from .http import Http, Reply
from .methods import Method, Option, Prompt, When
from .oauth import OAuth, Server, name_of_account

_GITHUB = "github.com"
_PROMPTS = (
    Prompt(
        "deploymentType",
        gettext_noop("Which GitHub do you use?"),
        "select",
        options=(
            Option("GitHub.com", _GITHUB, gettext_noop("Public")),
            Option(
                "GitHub Enterprise", "enterprise", gettext_noop("Data residency or self-hosted")
            ),
        ),
    ),
    Prompt(
        "enterpriseUrl",
        gettext_noop("Address of your GitHub Enterprise"),
        placeholder="company.ghe.com",
        when=When("deploymentType", "eq", "enterprise"),
        read=host_of,
    ),
)


class Copilot(OAuth):
    """Signs in at GitHub."""

    revoke_page = "https://github.com/settings/applications"

    def server(self, inputs: Mapping[str, str]) -> Server:
        """Returns: GitHub, or the enterprise's own."""
        address = f"https://{inputs.get('enterpriseUrl', _GITHUB)}/login"
        return Server(
            client_id="Ov23li8tweQw6odWQebz",
            device_url=f"{address}/device/code",
            token_url=f"{address}/oauth/access_token",
            scope="read:user",
            takes_json=True,
        )

    def grant(self, reply: Reply, inputs: Mapping[str, str]) -> Grant:
        """Returns: a grant without an end."""
        return self._grant_of(Secret(reply.text("access_token")), inputs.get("enterpriseUrl"))

    def _grant_of(self, access: Secret, domain: str | None) -> Grant:
        if domain is None:
            return Grant(access)
        return Grant(access, connection={"enterpriseUrl": domain}, base_url=enterprise_url(domain))

    def adopted(
        self,
        access: Secret,
        refresh: Secret | None,
        expires_at: datetime | None,
        *,
        account: str = "",
        domain: str = "",
    ) -> Grant:
        """Returns: the grant of GitHub's token. Raises: BadInput for what is no domain."""
        inputs = {"deploymentType": "enterprise" if domain else _GITHUB, "enterpriseUrl": domain}
        return self._grant_of(access, self.methods[0].checked(inputs).get("enterpriseUrl"))

    async def named(self, grant: Grant, http: Http) -> Grant:
        """Returns: the grant with the login of the person."""
        domain = grant.connection.get("enterpriseUrl", _GITHUB)
        has_host = domain == _GITHUB or domain.endswith(GITHUB_DOMAIN)
        api = f"https://api.{domain}" if has_host else f"https://{domain}/api/v3"
        login = await name_of_account(http, f"{api}/user", grant.access, "login")
        return replace(grant, account=login)


register_sign_in(
    Copilot(
        "github-copilot",
        Method("device", "device", gettext_noop("Login with GitHub Copilot"), _PROMPTS),
    )
)
