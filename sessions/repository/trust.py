"""Whether what a repository brings is trusted: the files as they are against the stored word."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from opencode_web.lib.compiled import CompiledQuery
from sessions.models import Project, RepositoryTrust, Session
from sessions.repository.brought import Brought, read_brought
from sessions.secrets import project_redactor

_TRUST = CompiledQuery(lambda project_id: RepositoryTrust.objects.filter(project=project_id), str)


def brought_by(project: Project, directory: str = "") -> Brought:
    """Returns: what a folder of the project brings, by default its own. Two queries, if anything.

    Trust is in contents: it holds in every worktree that has exactly the trusted files.
    """
    if project.status != Project.Status.READY or not project.directory:
        return Brought()
    brought = read_brought(Path(directory or project.directory))
    if not brought.files:
        return brought
    row = _TRUST.first(project.pk)
    if row is not None and row.digest == brought.digest:
        brought = replace(brought, is_trusted=True, reloads=row.reloads)
    redactor = project_redactor(project.pk)
    return brought.masked(redactor) if redactor else brought


def files_of(session: Session) -> str:
    """Returns: the folder of a session's files: until its own worktree is there, the project's."""
    if session.folder and not Path(session.folder).is_dir():
        return session.project.directory
    return session.worktree
