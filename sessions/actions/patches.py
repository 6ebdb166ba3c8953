"""What people did to the files of a project by a route, after it was done."""

from __future__ import annotations

from django.db import transaction

from sessions.access import ProjectAccess
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
