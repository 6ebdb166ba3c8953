"""Which team may use which folder below the worktrees root.

Every change is made under one lock: two teams must not get a folder and one inside it at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.db import lock_until_commit
from opencode_web.lib.errors import Conflict
from opencode_web.lib.json import JsonObject
from sessions.git.project_folders import unusable_folder
from sessions.models import Project, TeamFolder
from teams.access import TeamAccess, is_operator
from teams.audit import AuditAction, clean_reason, record
from teams.models import Team, User

# Any number that no other advisory lock has.
_LOCK = 4098


_Row = TypeVar("_Row", TeamFolder, Project)


def claim_folder(access: TeamAccess, folder: Path) -> None:
    """Make sure that the team may add a project from `folder`, which must be a real path.

    An operator assigns a folder that no team has by adding it. Nobody else can take one, and the
    refusal is the same as for a folder that does not exist. The lock is held until the commit.

    Raises: Invalid.
    """
    lock_until_commit(_LOCK)
    known = _overlapping(TeamFolder.objects.select_related("team"), "path", folder)
    operator = is_operator(access.user)
    if any(row.team_id != access.team.pk for row in known):
        raise unusable_folder(for_operator=operator)
    if any(folder.is_relative_to(row.path) for row in known):
        return
    if not operator:
        raise unusable_folder()
    row = TeamFolder(host=settings.HOST_NAME, path=str(folder))
    _assign(row, access.team, access.user, reason="", ip=None)


@transaction.atomic
def assign_folder(
    folder: Path,
    *,
    team: Team,
    operator: User | None,
    reason: str,
    host: str = "",
    ip: str | None = None,
) -> TeamFolder:
    """Let `team`, and no other, add projects from `folder`, which must be a real path.

    `operator` is None for the command line; `host` is this one unless given.

    Raises: Conflict when the team has it already, when another team has a folder in or around it,
    or a project that uses it; Invalid without a reason.
    """
    why = clean_reason(reason)
    host = host or settings.HOST_NAME
    lock_until_commit(_LOCK)
    known = _overlapping(TeamFolder.objects.select_related("team"), "path", folder, host)
    row = next((row for row in known if row.path == str(folder)), None)
    row = row or TeamFolder(host=host, path=str(folder))
    if any(one.team_id == team.pk and folder.is_relative_to(one.path) for one in known):
        raise Conflict(
            _("{folder} is already assigned to {team}.").format(folder=folder, team=team.name)
        )
    for one in known:
        if one.pk != row.pk and one.team_id != team.pk:
            raise Conflict(
                _("{folder} is assigned to {team}. Reassign that folder first.").format(
                    folder=one.path, team=one.team.name
                )
            )
    for project in _overlapping(Project.objects.select_related("team"), "directory", folder, host):
        if project.team_id != team.pk:
            raise Conflict(
                _(
                    "The project {project} of {team} uses {folder}. Delete the project first."
                ).format(project=project.name, team=project.team.name, folder=project.directory)
            )
    return _assign(row, team, operator, reason=why, ip=ip)


def refuse_overlap(folder: Path) -> None:
    """Two projects must not reach each other's files. Raises: Conflict."""
    if _overlapping(Project.objects.all(), "directory", folder):
        raise Conflict(
            _("This folder, a folder above it or a folder inside it already belongs to a project.")
        )


def _assign(
    row: TeamFolder, team: Team, operator: User | None, *, reason: str, ip: str | None
) -> TeamFolder:
    before = row.team if row.team_id else None
    row.team, row.assigned_by, row.assigned_at = team, operator, timezone.now()
    row.save()
    told: JsonObject = {"name": row.path, "host": row.host, "reason": reason}
    # Each team reads of itself only; the operators' trail has both.
    whole = {**told, "before": before.slug if before else "", "after": team.slug}
    for action, reader, data in (
        (AuditAction.OPERATOR_WITHDREW_FOLDER, before, told),
        (AuditAction.OPERATOR_ASSIGNED_FOLDER, team, told),
        (AuditAction.OPERATOR_ASSIGNED_FOLDER, None, whole),
    ):
        if reader is not None or data is whole:
            record(action, actor=operator, team=reader, target=row, data=data, ip=ip)
    return row


def _overlapping(rows: QuerySet[_Row], field: str, folder: Path, host: str = "") -> list[_Row]:
    """Returns: those of a host at, above and below `folder`."""
    above = [str(one) for one in (folder, *folder.parents)]
    found = rows.filter(
        Q(**{f"{field}__in": above}) | Q(**{f"{field}__startswith": f"{folder}/"}),
        host=host or settings.HOST_NAME,
    )
    # SQLite ignores the case of letters in a prefix.
    return [
        row
        for row in found
        if getattr(row, field) in above or Path(getattr(row, field)).is_relative_to(folder)
    ]
