"""Every forge that there is an adapter for."""

from __future__ import annotations

from collections.abc import Callable

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from sessions.forges.adapter import Forge, ForgeKind
from sessions.forges.api import Tokens
from sessions.forges.gitea import Gitea
from sessions.forges.github import GitHub
from sessions.forges.gitlab import GitLab

NAMES: dict[ForgeKind, str | Promise] = {
    ForgeKind.GITHUB: "GitHub",
    ForgeKind.GITLAB: "GitLab",
    ForgeKind.GITEA: gettext_lazy("Gitea or Forgejo"),
}
# Who a token says that it is when git asks over https. Each takes the token as the password.
GIT_USERS = {
    ForgeKind.GITHUB: "x-access-token",
    ForgeKind.GITLAB: "oauth2",
    ForgeKind.GITEA: "oauth2",
}
_FORGES: dict[ForgeKind, Callable[[str, str, str | Tokens], Forge]] = {
    ForgeKind.GITHUB: GitHub,
    ForgeKind.GITLAB: GitLab,
    ForgeKind.GITEA: Gitea,
}


def open_forge(kind: ForgeKind, *, api_url: str, path: str, token: str | Tokens) -> Forge:
    """The adapter for one repository. Nothing is sent before it is asked."""
    return _FORGES[kind](api_url.rstrip("/"), path, token)
