"""What leaves the server is kept in the audit log, before the first byte is sent."""

from __future__ import annotations

from sessions.access import SessionAccess
from teams.access import TeamAccess
from teams.audit import AuditAction, record


def note_export(access: SessionAccess) -> None:
    """A session as a document."""
    user, team = access.principal.user, access.team.team
    record(AuditAction.SESSION_EXPORTED, actor=user, team=team, target=access.session)


def note_download(access: SessionAccess, *, file: str) -> None:
    """A file of a session's worktree."""
    user, team, data = access.principal.user, access.team.team, {"file": file[:_PATH_CHARS]}
    record(AuditAction.FILE_DOWNLOADED, actor=user, team=team, target=access.session, data={**data})


def note_usage_export(access: TeamAccess) -> None:
    """Who has used what, as a table."""
    record(AuditAction.USAGE_EXPORTED, actor=access.user, team=access.team, target=access.team)


_PATH_CHARS = 500
