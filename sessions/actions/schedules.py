from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, Forbidden, Invalid
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from opencode_web.lib.reasons import Cause, english
from opencode_web.lib.text import clean_text
from providers.resolve import parse_ref, resolve_model
from sessions.access import ProjectAccess
from sessions.actions.prompts import MAX_TEXT_CHARS
from sessions.agents.loader import choose_agent
from sessions.config.effective import config_data, project_config
from sessions.cron_times import check_times, next_time
from sessions.events.reasons import ScheduleReason
from sessions.models import Project, Schedule
from sessions.secrets import hide_keys
from teams.access import require_role
from teams.audit import AuditAction, record
from teams.models import Role, User

MAX_SCHEDULES = 50
MAX_NAME_CHARS = 120


@dataclass(frozen=True)
class ScheduleDraft:
    """What a schedule does and when. Empty `agent` and `model` are the project's."""

    name: str
    prompt: str
    cron: str
    timezone: str = "UTC"
    agent: str = ""
    model: str = ""


@transaction.atomic
def create_schedule(
    access: ProjectAccess, draft: ScheduleDraft, *, ip: str | None = None
) -> Schedule:
    """Have a prompt sent at times, with the rights of the caller.

    Raises: Invalid for what cannot be run; Conflict when the project has too many; NotFound for an
    unknown model; Forbidden below member.
    """
    require_role(access.team, Role.MEMBER)
    _require_room(access.project)
    now = timezone.now()
    row = Schedule(id=new_id("sch"), project=access.project, created_at=now)
    _write(row, access, draft, now)
    row.save(force_insert=True)
    _record(AuditAction.SCHEDULE_CREATED, access, row, ip)
    return row


@transaction.atomic
def update_schedule(
    access: ProjectAccess, row: Schedule, draft: ScheduleDraft, *, ip: str | None = None
) -> Schedule:
    """Change what it does. From now on it has the rights of whoever changed it.

    Raises: as `create_schedule`; Forbidden for another member's.
    """
    row = _lock(access, row)
    _write(row, access, draft, timezone.now())
    row.save()
    _record(AuditAction.SCHEDULE_UPDATED, access, row, ip)
    return row


@transaction.atomic
def pause_schedule(access: ProjectAccess, row: Schedule, *, ip: str | None = None) -> Schedule:
    """Let no time come due. Pausing it again changes nothing. Raises: Forbidden."""
    row = _lock(access, row)
    if row.paused_at is None:
        name = access.principal.user.display_name
        stop_schedule(row, Cause(ScheduleReason.PAUSED_BY, {"name": name}))
        _record(AuditAction.SCHEDULE_PAUSED, access, row, ip)
    return row


@transaction.atomic
def resume_schedule(access: ProjectAccess, row: Schedule, *, ip: str | None = None) -> Schedule:
    """Go on with the next time; what was due meanwhile is not made up for.

    Raises: Forbidden; Conflict while it has nobody's rights.
    """
    row = _lock(access, row)
    if row.paused_at is not None:
        if row.author_id is None:
            raise Conflict(_("It has no author. Save it first, so that it runs with your rights."))
        row.paused_at, row.paused_reason, row.paused_cause, row.failures = None, "", {}, 0
        row.next_at = next_time(row.cron, row.timezone, timezone.now())
        row.save()
        _record(AuditAction.SCHEDULE_RESUMED, access, row, ip)
    return row


@transaction.atomic
def delete_schedule(access: ProjectAccess, row: Schedule, *, ip: str | None = None) -> None:
    """Forget it with its history; the sessions stay. Raises: Forbidden."""
    row = _lock(access, row)
    _record(AuditAction.SCHEDULE_DELETED, access, row, ip)
    row.delete()


def import_schedule(
    project: Project, draft: ScheduleDraft, *, author: str, created_at: datetime
) -> Schedule:
    """Take over a schedule of another server, paused and without an author: nobody here has said
    that it may use their rights. Must run inside a transaction.

    Raises: Invalid for what cannot be run; Conflict when the project has too many.
    """
    _require_room(project)
    row = Schedule(id=new_id("sch"), project=project, created_at=created_at)
    row.updated_at = timezone.now()
    _set_what(row, draft)
    stop_schedule(row, Cause(ScheduleReason.IMPORTED, {"name": author}))
    return row


def stop_schedule(row: Schedule, cause: Cause) -> None:
    """Pause a locked schedule. Must run inside a transaction."""
    row.paused_at, row.next_at = timezone.now(), None
    row.paused_reason, row.paused_cause = english(cause)[:400], cause.to_json()
    row.save()


def may_change(access: ProjectAccess, row: Schedule) -> bool:
    """Whether the caller may change it, run it now or pause it: its author, and admins."""
    team = access.team
    own = row.author_id == access.principal.user.pk
    return team.can(Role.ADMIN) or (own and team.can(Role.MEMBER))


def require_change(access: ProjectAccess, row: Schedule) -> None:
    """Raises: Forbidden."""
    require_role(access.team, Role.MEMBER)
    if not may_change(access, row):
        raise Forbidden(_("Only the author and admins can change this schedule."))


def _require_room(project: Project) -> None:
    if project.schedules.count() >= MAX_SCHEDULES:
        raise Conflict(
            _("A project can have at most {count} schedules. Delete one first.").format(
                count=MAX_SCHEDULES
            )
        )


def _lock(access: ProjectAccess, row: Schedule) -> Schedule:
    require_change(access, row)
    return Schedule.objects.select_for_update().get(pk=row.pk)


def _write(row: Schedule, access: ProjectAccess, draft: ScheduleDraft, now: datetime) -> None:
    _set_what(row, draft)
    author: User = access.principal.user
    _check_choices(access.project, row.agent, row.model, author)
    row.author, row.updated_at = author, now
    if row.paused_at is None:
        row.next_at = next_time(row.cron, row.timezone, now)


def _set_what(row: Schedule, draft: ScheduleDraft) -> None:
    row.name = clean_text(" ".join(draft.name.split()))
    prompt = clean_text(draft.prompt.replace("\r\n", "\n")).strip()
    row.prompt = hide_keys(row.project, prompt)
    if not row.name or len(row.name) > MAX_NAME_CHARS:
        raise Invalid(
            _("A name must have 1 to {count} characters.").format(count=MAX_NAME_CHARS),
            field="name",
        )
    if not row.prompt or len(row.prompt) > MAX_TEXT_CHARS:
        raise Invalid(
            _("A prompt must have 1 to {count} characters.").format(
                count=number_format(MAX_TEXT_CHARS, force_grouping=True)
            ),
            field="prompt",
        )
    row.agent, row.model = draft.agent.strip(), draft.model.strip()
    row.cron, row.timezone = check_times(draft.cron, draft.timezone), draft.timezone


def _check_choices(project: Project, agent: str, model: str, author: User) -> None:
    if agent:
        choose_agent(project_config(project), agent)
    if model:
        data = config_data(project)
        resolve_model(project.team, parse_ref(model), config=data, user=author)


def _record(action: AuditAction, access: ProjectAccess, row: Schedule, ip: str | None) -> None:
    data: JsonObject = {"name": row.name, "project": row.project_id, "cron": row.cron}
    actor, team = access.principal.user, access.team.team
    record(action, actor=actor, team=team, target=row, data=data, ip=ip)
