"""The files of a folder on this host that one person may see."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.utils.translation import gettext as _

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Forbidden, Invalid, NotFound
from sessions.agents.loader import find_agent
from sessions.checkouts.repository import (
    NoCheckouts,
    Repository,
    open_checkout,
    open_project,
)
from sessions.config.effective import project_config
from sessions.models import Project, Session
from sessions.rules.in_force import agent_ruleset
from sessions.secrets import project_redactor
from tools.errors import ToolError
from tools.paths import Located, locate
from tools.permissions.rules import Action, Ruleset, decide
from tools.redaction import NO_SECRETS, Redactor

GIT_DIR = ".git"


@dataclass(frozen=True)
class Where:
    """A Location as it travels to its host. `folder` is a session's own worktree, else empty.

    `cautious`: the caller may not read what agents have to ask for.
    """

    project_id: str
    host: str
    directory: str
    folder: str = ""
    cautious: bool = True

    @classmethod
    def of_session(cls, session: Session, *, cautious: bool) -> Where:
        """The files that a session works on."""
        project = session.project
        return cls(project.pk, project.host, session.worktree, session.folder, cautious)


@dataclass(frozen=True)
class FileScope:
    """Files below `worktree`. Relative paths begin at `directory`, which lies in it."""

    project_id: str
    worktree: Path
    directory: Path
    rules: Ruleset
    cautious: bool
    # The commit that a session's own worktree started from.
    base: str = ""
    is_checkout: bool = False
    # Nobody is shown the value of a secret, so it is masked for everybody.
    redactor: Redactor = NO_SECRETS

    @property
    def output_dirs(self) -> Sequence[Path]:
        """The outputs of tools are no files of a project."""
        return ()

    def locate(self, path: str) -> Located:
        """Raises: Invalid for a path that leaves the worktree."""
        with as_invalid():
            return locate(self, path or ".")

    def inside(self, name: str) -> str:
        """Returns: a name below the worktree, as it is from `directory`; empty outside of that."""
        start = self.directory.relative_to(self.worktree).as_posix()
        if start == ".":
            return name
        return name.removeprefix(f"{start}/") if name.startswith(f"{start}/") else ""

    def may_read(self, *names: str) -> bool:
        """Whether the rules of the project let the caller read a file with these names."""
        action = decide("read", names, self.rules)
        # What is in there can hold the password of a remote.
        hidden = any(GIT_DIR in Path(name).parts for name in names)
        if action is Action.DENY:
            return False
        return not (self.cautious and (hidden or action is Action.ASK))

    def require_read(self, located: Located) -> None:
        """Raises: Forbidden."""
        if not self.may_read(*located.patterns):
            raise Forbidden(
                _("The project's rules do not allow you to read {path}.").format(
                    path=located.relative or "this"
                )
            )

    def encode(self, data: bytes, name: str) -> str:
        """Returns: the content of a file in base64. Raises: Forbidden when a secret is in it.

        A mark would change the format of an archive or a picture, so there is none.
        """
        if self.redactor.data(data) is not data:
            raise Forbidden(
                _(
                    "{path} contains a secret of the project, which can only be masked in text "
                    "files."
                ).format(path=name)
            )
        return base64.b64encode(data).decode("ascii")

    async def repository(self) -> Repository:
        """Raises: CheckoutError where there is no repository that git can be asked about."""
        if self.is_checkout:
            project_dir = await in_db(_project_directory, self.project_id)
            project = await open_project(project_dir, whole=False)
            return open_checkout(self.project_id, self.worktree, project.object_format)
        return await open_project(str(self.worktree), whole=False)

    async def find_repository(self) -> Repository | None:
        """Returns: None where the files are in none. Raises: CheckoutError for a git that fails."""
        try:
            return await self.repository()
        except NoCheckouts:
            return None


def _project_directory(project_id: str) -> str:
    return Project.objects.values_list("directory", flat=True).get(pk=project_id)


def open_scope(where: Where) -> FileScope:
    """Raises: NotFound when the project or the worktree is gone."""
    project = Project.objects.select_related("team").filter(pk=where.project_id).first()
    if project is None or project.status != Project.Status.READY:
        raise NotFound("Files of the project", where.project_id)
    worktree = Path(where.folder or project.directory)
    if not worktree.is_dir():
        raise NotFound("Folder", str(worktree))
    directory = Path(where.directory)
    config = project_config(project, str(worktree))
    rules = agent_ruleset(project, find_agent(config, ""), config, str(worktree))
    base = ""
    if where.folder:
        rows = project.checkouts.filter(folder=where.folder)
        base = rows.values_list("base", flat=True).first() or ""
    return FileScope(
        project_id=project.pk,
        worktree=worktree,
        directory=directory if directory.is_relative_to(worktree) else worktree,
        rules=rules,
        cautious=where.cautious,
        base=base,
        is_checkout=bool(where.folder),
        # People change these files: what they are shown is what is there.
        redactor=project_redactor(project.pk, keys=False),
    )


@contextmanager
def as_invalid() -> Iterator[None]:
    """Raise errors of tools as the caller's."""
    try:
        yield
    except ToolError as exc:
        raise Invalid(exc.message) from exc
