"""What happens when a schedule is due. Any number of workers may look at the same time."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.errors import AppError, Conflict, Forbidden, NotFound, Unavailable
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from opencode_web.lib.reasons import Cause, Told, Value, english
from providers.resolve import parse_ref
from sessions.access import ProjectAccess, SessionAccess, access_project
from sessions.actions.checkouts import choose_plan
from sessions.actions.composer_input import admit_typed
from sessions.actions.prompts import PromptDraft
from sessions.actions.schedules import require_change, stop_schedule
from sessions.actions.sessions import create_session
from sessions.authors import may_work
from sessions.cron_times import missed_between, next_time
from sessions.events.reasons import ScheduleReason, read_cause, told_by_session
from sessions.models import Outcome, Schedule, ScheduleRun, Session, State
from teams.announcements import shown_maintenance
from teams.audit import AuditAction, record
from teams.auth import authenticate_for
from teams.budgets import BudgetReached
from teams.models import Role, User

# In a row; then a schedule is paused.
MAX_FAILURES = 3
_RunState = ScheduleRun.State
_ENDS = {
    Outcome.DONE: _RunState.DONE,
    Outcome.STOPPED: _RunState.STOPPED,
    Outcome.INTERRUPTED: _RunState.STOPPED,
}
_BATCH = 100


def run_due() -> int:
    """Run every schedule whose time has come. Returns: how many runs were begun or skipped.

    During maintenance they all stay due.
    """
    if shown_maintenance():
        return 0
    now = timezone.now()
    due = Schedule.objects.filter(next_at__lte=now).order_by("next_at")
    ids = list(due.values_list("pk", flat=True)[:_BATCH])
    return sum(_run_if_due(schedule_id, now) for schedule_id in ids)


@transaction.atomic
def run_now(access: ProjectAccess, row: Schedule, *, ip: str | None = None) -> ScheduleRun:
    """Run a schedule at once, also while it is paused; its times stay. It has its author's rights.

    Raises: Conflict while a run goes on; Forbidden.
    """
    require_change(access, row)
    locked = _locked(row.pk)
    if locked is None:
        raise NotFound("Schedule", row.pk)
    row = locked
    if _goes_on(row):
        raise Conflict(_("The previous run is still in progress."))
    run = _begin(row, timezone.now(), by=access.principal.user)
    record(
        AuditAction.SCHEDULE_RUN,
        actor=access.principal.user,
        team=access.team.team,
        target=row,
        data={"name": row.name},
        ip=ip,
    )
    return run


def settle_runs() -> int:
    """Note how runs ended whose session rests. Returns: how many."""
    open_runs = ScheduleRun.objects.filter(state=_RunState.RUNNING).select_related("session")
    ended = [run.pk for run in open_runs if run.session is None or run.session.state == State.IDLE]
    return sum(map(_settle, ended))


@transaction.atomic
def _run_if_due(schedule_id: str, now: datetime) -> bool:
    row = _locked(schedule_id)
    # Somebody else was first, or it was paused or deleted meanwhile.
    if row is None or row.next_at is None or row.next_at > now:
        return False
    due_at = row.next_at
    # One run makes up for all that were due while nothing looked.
    missed = missed_between(row.cron, row.timezone, due_at, now)
    row.next_at = next_time(row.cron, row.timezone, now)
    row.save(update_fields=["next_at"])
    if _goes_on(row):
        _skip(row, due_at, _with_missed(Cause(ScheduleReason.STILL_RUNNING), _missed(missed)))
    else:
        _begin(row, due_at, told=_missed(missed) or "")
    return True


def _locked(schedule_id: str) -> Schedule | None:
    rows = Schedule.objects.select_for_update(of=("self",))
    return rows.select_related("project__team", "author").filter(pk=schedule_id).first()


def _begin(
    row: Schedule, due_at: datetime, *, by: User | None = None, told: Told = ""
) -> ScheduleRun:
    run = _new_run(row, due_at, by=by, told=told)
    run.save(force_insert=True)
    try:
        with transaction.atomic():
            run.session = _start(row)
    except (BudgetReached, Unavailable) as exc:
        # Not the schedule's fault: it must not be paused for it.
        _end(row, run, _RunState.SKIPPED, exc.told)
    except AppError as exc:
        _end(row, run, _RunState.FAILED, exc.told)
    else:
        run.save(update_fields=["session"])
    return run


def _start(row: Schedule) -> Session:
    """Raises: AppError for whatever stands against it, as it would for a person."""
    if row.author is None or not row.author.is_active:
        raise Forbidden(Cause(ScheduleReason.NO_ACCOUNT))
    if not may_work(row.author, row.project):
        raise Forbidden(Cause(ScheduleReason.NO_RIGHT))
    principal = authenticate_for(row.author, row.project.team)
    access = access_project(principal, row.project_id, need=Role.MEMBER)
    plan = choose_plan(access.project, worktree=None)
    session = create_session(
        access,
        title=row.name,
        agent=row.agent,
        metadata={"schedule": row.pk},
        checkout=plan,
    )
    draft = PromptDraft(
        parts=[{"type": "text", "text": row.prompt}],
        agent=row.agent or None,
        model=parse_ref(row.model) if row.model else None,
    )
    admit_typed(SessionAccess(session, access.team, access.principal), draft)
    return session


def _goes_on(row: Schedule) -> bool:
    running = row.runs.filter(state=_RunState.RUNNING).select_related("session")
    return any(run.session is not None and run.session.state != State.IDLE for run in running)


def _skip(row: Schedule, due_at: datetime, why: Told) -> None:
    run = _new_run(row, due_at, told=why)
    run.state, run.ended_at = _RunState.SKIPPED, run.started_at
    run.save(force_insert=True)


def _new_run(
    row: Schedule, due_at: datetime, *, by: User | None = None, told: Told = ""
) -> ScheduleRun:
    run = ScheduleRun(
        id=new_id("run"), schedule=row, due_at=due_at, by=by, started_at=timezone.now()
    )
    _say(run, told)
    return run


def _say(run: ScheduleRun, told: Told) -> None:
    run.detail = english(told)[:400]
    run.cause = told.to_json() if isinstance(told, Cause) else {}


@transaction.atomic
def _settle(run_id: str) -> bool:
    run = ScheduleRun.objects.filter(pk=run_id).first()
    row = _locked(run.schedule_id) if run else None
    # Looked at again under the lock: another worker may have settled it.
    run = ScheduleRun.objects.select_related("session").filter(pk=run_id).first()
    if row is None or run is None or run.state != _RunState.RUNNING:
        return False
    session = run.session
    if session is None:
        _end(row, run, _RunState.STOPPED, Cause(ScheduleReason.SESSION_DELETED))
    elif session.state == State.IDLE:
        state = _ENDS.get(Outcome(session.outcome), _RunState.FAILED)
        _end(row, run, state, told_by_session(session))
    return True


def _end(row: Schedule, run: ScheduleRun, state: ScheduleRun.State, told: Told) -> None:
    run.state, run.ended_at = state, timezone.now()
    _say(run, _with_missed(told, read_cause(run.cause)))
    run.save()
    if state == _RunState.DONE:
        row.failures = 0
    elif state == _RunState.FAILED:
        row.failures += 1
    row.save(update_fields=["failures"])
    if row.failures >= MAX_FAILURES and row.paused_at is None:
        values: dict[str, Value] = {"times": row.failures, "reason": told}
        stop_schedule(row, Cause(ScheduleReason.FAILED_AGAIN, values))
        data: JsonObject = {"name": row.name, "reason": row.paused_reason}
        record(
            AuditAction.SCHEDULE_PAUSED, actor=None, team=row.project.team, target=row, data=data
        )


def _missed(count: int) -> Cause | None:
    if count == 1:
        return Cause(ScheduleReason.MISSED_ONE)
    return Cause(ScheduleReason.MISSED, {"count": count}) if count else None


def _with_missed(told: Told, missed: Cause | None) -> Told:
    if missed is None:
        return told
    return Cause(ScheduleReason.ALSO_MISSED, {"said": told, "missed": missed})
