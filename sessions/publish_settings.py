"""Where a project is published, put together from its settings and its remote's address."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from django.utils.translation import gettext_noop

from opencode_web.lib.crypto import DecryptionError, decrypt
from sessions.forges.adapter import Forge, ForgeError, ForgeKind
from sessions.forges.registry import GIT_USERS, open_forge
from sessions.forges.remote import Remote, remote_of
from sessions.github_tokens import InstallationTokens
from sessions.models import GitHubInstallation, Project, ProjectForge


@dataclass(frozen=True)
class Publishing:
    """`url` is empty where nobody has said where to push; `kind` is None where no forge is known.

    `sealed` is the encrypted token, empty without one. With an `installation` its tokens are used
    in its place.
    """

    url: str = ""
    kind: ForgeKind | None = None
    api_url: str = ""
    path: str = ""
    sealed: str = field(default="", repr=False)
    installation: GitHubInstallation | None = field(default=None, repr=False)

    @property
    def can_request(self) -> bool:
        """Whether pull requests can be opened."""
        return self.kind is not None and bool(self.sealed or self.installation)

    @property
    def origin(self) -> str:
        """Scheme and host of the forge's pages; empty where none is known."""
        remote = remote_of(self.url)
        return f"{remote.scheme}://{remote.netloc}" if remote else ""

    def commit_url(self, commit: str) -> str:
        """The page of a commit on the forge; empty where none is known."""
        remote = remote_of(self.url)
        return remote.commit_url(self.kind, commit) if remote and self.kind else ""


def publishing_of(project: Project) -> Publishing:
    """One query."""
    return publishing_of_each([project])[project.pk]


def publishing_of_each(projects: Collection[Project]) -> dict[str, Publishing]:
    """One query. Returns: of each project by its id."""
    rows = ProjectForge.objects.select_related("project__github_installation__app")
    found = rows.in_bulk([one.pk for one in projects])
    return {one.pk: _publishing(one, found.get(one.pk)) for one in projects}


def _publishing(project: Project, row: ProjectForge | None) -> Publishing:
    if row is None:
        return describe(project.git_url)
    url = row.remote_url or project.git_url
    found = describe(url, kind=row.kind, api_url=row.api_url, sealed=row.token)
    installation = getattr(row.project, "github_installation", None)
    if installation is None or not _is_of(installation, found, project):
        return found
    return replace(found, installation=installation)


def _is_of(installation: GitHubInstallation, found: Publishing, project: Project) -> bool:
    """Whether it was verified for this repository: its tokens go to no other host."""
    app = installation.app
    there = (app.team_id, app.api_url, app.origin, installation.repository)
    here = (project.team_id, found.api_url, found.origin, found.path.lower())
    return found.kind is ForgeKind.GITHUB and here == there


def describe(url: str, *, kind: str = "", api_url: str = "", sealed: str = "") -> Publishing:
    """What an address and the settings beside it come to."""
    remote = remote_of(url)
    found = _kind(remote, kind)
    if remote is None or found is None:
        return Publishing(url, sealed=sealed)
    api_url = api_url or remote.api_url(found)
    return Publishing(url, found, api_url, remote.path_for(found, api_url), sealed)


def _kind(remote: Remote | None, kind: str) -> ForgeKind | None:
    if kind:
        return ForgeKind(kind)
    return remote.kind if remote else None


def forge_of(publishing: Publishing) -> Forge:
    """Raises: ForgeError, saying what an admin has to set."""
    if publishing.kind is None:
        raise ForgeError(
            gettext_noop(
                "Nothing is known of the forge that the project is on. An admin chooses it under "
                "Publishing on the project's page."
            )
        )
    if publishing.installation is not None:
        token: str | InstallationTokens = InstallationTokens(publishing.installation)
    else:
        token = token_of(publishing)
    if not token:
        raise ForgeError(
            gettext_noop(
                "The project has no access token for its forge. An admin can set one under "
                "Publishing on the project's page."
            )
        )
    return open_forge(
        publishing.kind, api_url=publishing.api_url, path=publishing.path, token=token
    )


async def git_credential(publishing: Publishing, url: str, *, push: bool) -> str:
    """Returns: `user:token` for git over http, for the project's own remote and no other address.

    Raises: ForgeError when the token cannot be read, or none can be had.
    """
    if url != publishing.url or urlsplit(url).scheme not in ("http", "https"):
        return ""
    if publishing.installation is not None:
        token = await InstallationTokens(publishing.installation).for_git(push=push)
    else:
        token = token_of(publishing)
    user = GIT_USERS[publishing.kind] if publishing.kind else "oauth2"
    return f"{user}:{token}" if token else ""


def token_of(publishing: Publishing) -> str:
    """Raises: ForgeError when it was encrypted under a key that this server no longer has."""
    try:
        return decrypt(publishing.sealed) if publishing.sealed else ""
    except DecryptionError as exc:
        raise ForgeError(
            gettext_noop(
                "The project's access token cannot be read with this server's SECRET_KEY. An admin "
                "has to set it again."
            )
        ) from exc
