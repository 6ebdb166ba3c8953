"""Archives that owners ask for on a page: made by a worker, kept for a day."""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.backup.errors import BackupError
from opencode_web.lib.errors import Conflict, NotFound, Unavailable
from opencode_web.lib.json import JsonObject
from opencode_web.transfer.export import SCRATCH_PREFIX, export_team
from sessions.jobs.erase_files import export_file
from sessions.jobs.sweep import remove_path
from sessions.wake import wake_export
from teams.access import TeamAccess, require_role
from teams.audit import AuditAction, record
from teams.models import Role, Team, TeamExport, User

logger = logging.getLogger(__name__)

KEPT_FOR = timedelta(hours=24)
# Longer than the largest takes: then its worker is taken to be dead.
_LOST_AFTER = timedelta(hours=6)


@transaction.atomic
def request_export(access: TeamAccess) -> TeamExport:
    """Have an archive made. Raises: Forbidden below owner; Conflict while one is made."""
    require_role(access, Role.OWNER)
    try:
        with transaction.atomic():
            row = TeamExport.objects.create(
                team=access.team,
                requested_by=access.user,
                total=1 + access.team.projects.count(),
                expires_at=timezone.now() + KEPT_FOR,
            )
    except IntegrityError as exc:
        raise Conflict(_("An export is being made already.")) from exc
    record_export(access.team, target=row, actor=access.user, key="requested")
    wake_export(row.pk, access.team.projects.order_by("pk").first())
    return row


def access_export(access: TeamAccess, export_id: str) -> tuple[TeamExport, Path]:
    """Returns: an archive that can be downloaded, and records that it is.

    Raises: Forbidden below owner; NotFound for another team's, and for one that has expired;
    Unavailable where another host has the file.
    """
    require_role(access, Role.OWNER)
    row = TeamExport.objects.filter(team=access.team, pk=export_id).first()
    if row is None or not row.is_ready():
        raise NotFound("Export", export_id)
    path = export_file(row.pk)
    if not path.is_file():
        told = _("The file is on the host %(host)s, whose data folder this host does not share.")
        raise Unavailable(told % {"host": row.host})
    record_export(row.team, target=row, actor=access.user, key="downloaded")
    return row, path


def record_export(
    team: Team, *, target: TeamExport | Team, actor: User | None, key: str = ""
) -> None:
    """Without a `key` the archive is complete; the others are those of `teams.audit_texts`."""
    data: JsonObject = {"key": key} if key else {}
    record(AuditAction.TEAM_EXPORTED, actor=actor, team=team, target=target, data=data)


def run_export(export_id: str) -> None:
    """Make an archive, unless another worker does it."""
    mine = TeamExport.objects.filter(pk=export_id, state=TeamExport.State.WAITING)
    if not mine.update(state=TeamExport.State.RUNNING, host=settings.HOST_NAME):
        return
    row = TeamExport.objects.select_related("team", "requested_by").get(pk=export_id)
    path = export_file(row.pk)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)

    def tick(_line: str) -> None:
        row.done += 1
        TeamExport.objects.filter(pk=row.pk).update(done=row.done - 1)

    try:
        row.again = export_team(row.team, path, say=tick).again
        row.size_bytes, row.state = path.stat().st_size, TeamExport.State.DONE
    except BackupError as exc:
        logger.warning("export.failed id=%s problem=%s", row.pk, exc)
        row.problem, row.state = str(exc)[:500], TeamExport.State.FAILED
    row.done, row.expires_at = row.total, timezone.now() + KEPT_FOR
    if not _end(row):
        path.unlink(missing_ok=True)


@transaction.atomic
def _end(row: TeamExport) -> bool:
    """Returns: False where the team or the export was deleted meanwhile."""
    names = ("state", "problem", "again", "size_bytes", "done", "expires_at")
    values = {name: getattr(row, name) for name in names}
    if not TeamExport.objects.filter(pk=row.pk, state=TeamExport.State.RUNNING).update(**values):
        return False
    key = "failed" if row.state == TeamExport.State.FAILED else ""
    record_export(row.team, target=row, actor=row.requested_by, key=key)
    return True


def go_on_with_exports() -> None:
    """Begin what nobody has taken, give up what a dead worker left, and remove what is over."""
    now = timezone.now()
    lost = TeamExport.objects.filter(
        state=TeamExport.State.RUNNING, created_at__lt=now - _LOST_AFTER
    )
    for row in lost.select_related("team", "requested_by"):
        row.state, row.problem = TeamExport.State.FAILED, "The worker that made it has ended."
        _end(row)
    over = Q(expires_at__lte=now) & ~Q(state__in=(TeamExport.State.RUNNING, "waiting"))
    TeamExport.objects.filter(over).delete()
    folder = export_file("x").parent
    files = {path.stem: path for path in folder.glob("*.tar")} if folder.is_dir() else {}
    kept = set(TeamExport.objects.filter(pk__in=files).values_list("pk", flat=True))
    for export_id, path in files.items():
        if export_id not in kept:
            path.unlink(missing_ok=True)
    here = TeamExport.objects.filter(host=settings.HOST_NAME, state=TeamExport.State.RUNNING)
    if not here.exists():
        # What a worker that was killed had written so far: nobody goes on with it.
        for left in folder.glob(f"{SCRATCH_PREFIX}*"):
            remove_path(left)
    for export_id in TeamExport.objects.filter(state="waiting").values_list("pk", flat=True):
        run_export(export_id)
