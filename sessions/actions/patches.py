"""What people did to the files of a project or session, after it was done."""

from __future__ import annotations

from django.db import transaction

from sessions.access import ProjectAccess, SessionAccess
from sessions.events.live import publish_edited
from teams.access import require_role
from teams.audit import AuditAction, record
from teams.models import Role


@transaction.atomic
def note_patch(access: ProjectAccess, *, folder: str, size_bytes: int) -> None:
    """Write down who applied one, and where. Raises: Forbidden below member."""
    require_role(access.team, Role.MEMBER)
    record(
        AuditAction.PATCH_APPLIED,
        actor=access.principal.user,
        team=access.team.team,
        target=access.project,
        data={"folder": folder, "bytes": size_bytes},
    )


@transaction.atomic
def note_edit(access: SessionAccess, *, path: str, is_new: bool) -> None:
    """Write down who saved a file, and tell clients. Raises: Forbidden below member."""
    require_role(access.team, Role.MEMBER)
    record(
        AuditAction.FILE_EDITED,
        actor=access.principal.user,
        team=access.team.team,
        target=access.session,
        data={"file": path},
    )
    publish_edited(access.session, {path: "add" if is_new else "change"})


@transaction.atomic
def note_repository(access: ProjectAccess) -> None:
    """Write down who made the project's folder a git repository. Raises: Forbidden below member."""
    require_role(access.team, Role.MEMBER)
    record(
        AuditAction.PROJECT_UPDATED,
        actor=access.principal.user,
        team=access.team.team,
        target=access.project,
        data={"git": "init"},
    )
