"""Whether what a repository brings is trusted: the files as they are against the stored word."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from django.db.models import Q

from opencode_web.lib.compiled import CompiledQuery
from sessions.models import Project, RepositoryTrust, Session, TeamPlugin
from sessions.repository.brought import Brought, Package, read_brought
from sessions.repository.custom_tools import with_description
from sessions.repository.wanted_packages import with_options
from sessions.secrets import project_redactor

_TRUST = CompiledQuery(lambda project_id: RepositoryTrust.objects.filter(project=project_id), str)
_PACKAGES = CompiledQuery(
    lambda team_id: (
        TeamPlugin.objects.filter(Q(team=team_id) | Q(team=None), trusted_at__isnull=False)
        .defer("packages")
        .order_by("name")
    ),
    str,
)


def brought_by(project: Project, directory: str = "") -> Brought:
    """Returns: what a folder of the project brings, by default its own. One query, two more where
    there are files, and one where tools or plugins run.

    Trust is in contents: it holds in every worktree that has exactly the trusted files.
    """
    if project.status != Project.Status.READY or not project.directory:
        return Brought()
    brought = read_brought(Path(directory or project.directory))
    packages = _packages(project.team_id)
    if not brought.files:
        return with_description(project, replace(brought, packages=packages))
    row = _TRUST.first(project.pk)
    if row is not None and row.digest == brought.digest:
        brought = replace(brought, is_trusted=True, reloads=row.reloads)
    if packages:
        brought = replace(brought, packages=with_options(packages, brought))
    brought = with_description(project, brought)
    redactor = project_redactor(project.pk)
    return brought.masked(redactor) if redactor else brought


def _packages(team_id: str) -> tuple[Package, ...]:
    """Returns: those of the server, then those of the team, which cannot replace one of them: it
    may be a guard."""
    rows = _PACKAGES.all(team_id)
    of_server = {row.name: row for row in rows if row.team_id is None}
    loaded = (*of_server.values(), *(row for row in rows if row.name not in of_server))
    return tuple(
        Package(row.name, row.version, row.digest, tuple(row.hooks), row.reloads) for row in loaded
    )


def files_of(session: Session) -> str:
    """Returns: the folder of a session's files: until its own worktree is there, the project's."""
    if session.folder and not Path(session.folder).is_dir():
        return session.project.directory
    return session.worktree
