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

from ..secret import Secret
from ..texts import gettext_noop
from .base import register_sign_in
from .errors import SignedOut
from .grants import Grant
from .http import Http
from .methods import Method, Prompt, key_method
from .oauth import OAuth, Server, name_of_account

GITLAB = "https://gitlab.com"
# Nothing before the host, and nothing that is no part of a path.
_INSTANCE = re.compile(r"https://[A-Za-z0-9][A-Za-z0-9.-]*(?::\d{1,5})?(?:/[\w.-]+)*", re.A)
_BAD_INSTANCE = gettext_noop(
    "This is not the address of a GitLab: it looks like https://gitlab.com."
)


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
        "Address of your GitLab",
        placeholder=GITLAB,
        is_required=False,
        read=instance_of,
    ),
)


class GitLab(OAuth):
    """Signs in at one instance; without an application, by a token alone."""

    refresh_early_s = 300.0

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
        """Returns: the grant of a personal access token."""
        return Grant(key, connection={"instanceUrl": inputs.get("instanceUrl", self._instance)})

    async def named(self, grant: Grant, http: Http) -> Grant:
        """Returns: the grant with the name of the person, and of the instance."""
        url = f"{self._instance}/api/v4/user"
        name = await name_of_account(http, url, grant.access, "username")
        return replace(grant, account=name, connection={"instanceUrl": self._instance})

    async def revoke(self, grant: Grant, http: Http) -> None:
        """Have the instance forget it; a personal access token stays, as its owner has made it."""
        if grant.refresh is not None:
            await super().revoke(grant, http)


register_sign_in(GitLab())
