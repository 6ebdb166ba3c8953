"""Every forge that there is an adapter for."""

from __future__ import annotations

from collections.abc import Callable

from sessions.forges.adapter import Forge, Kind
from sessions.forges.gitea import Gitea
from sessions.forges.github import GitHub
from sessions.forges.gitlab import GitLab

NAMES = {Kind.GITHUB: "GitHub", Kind.GITLAB: "GitLab", Kind.GITEA: "Gitea or Forgejo"}
# Who a token says that it is when git asks over https. Each takes the token as the password.
GIT_USERS = {Kind.GITHUB: "x-access-token", Kind.GITLAB: "oauth2", Kind.GITEA: "oauth2"}
_FORGES: dict[Kind, Callable[[str, str, str], Forge]] = {
    Kind.GITHUB: GitHub,
    Kind.GITLAB: GitLab,
    Kind.GITEA: Gitea,
}


def open_forge(kind: Kind, *, api_url: str, path: str, token: str) -> Forge:
    """The adapter for one repository. Nothing is sent before it is asked."""
    return _FORGES[kind](api_url.rstrip("/"), path, token)
