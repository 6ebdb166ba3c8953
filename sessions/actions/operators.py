"""What operators do to the turns and processes of an installation, each for a reason.

They need not belong to the team: it finds what was done, and why, in its own audit trail.
"""

from __future__ import annotations

from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict
from sessions.actions.control import interrupt
from sessions.events.store import lock_session
from sessions.models import Run, ServerProcess, Session, State
from sessions.tree import sessions_below
from sessions.wake import signal_drain, signal_kill, wake
from teams.audit import AuditAction, clean_reason, record
from teams.models import User


@transaction.atomic
def stop_turn(session: Session, operator: User, *, reason: str, ip: str | None = None) -> None:
    """Interrupt a turn as its members can; it says that an operator did.

    Raises: Conflict when it is over; Invalid without a reason.
    """
    _interrupt(session, operator, AuditAction.OPERATOR_STOPPED_TURN, reason=reason, ip=ip)


@transaction.atomic
def kill_turn(session: Session, operator: User, *, reason: str, ip: str | None = None) -> None:
    """Interrupt a turn, and kill every process that it and its sub-agents have started.

    Raises: Conflict when it is over; Invalid without a reason.
    """
    locked = _interrupt(session, operator, AuditAction.OPERATOR_KILLED_TURN, reason=reason, ip=ip)
    for one in (locked, *sessions_below(locked)):
        signal_kill(one.pk)


def _interrupt(
    session: Session, operator: User, action: AuditAction, *, reason: str, ip: str | None
) -> Session:
    why = clean_reason(reason)
    locked = lock_session(session.pk)
    if not interrupt(locked, operator, by_operator=True):
        raise Conflict(_("This turn has ended."))
    team = locked.project.team
    record(action, actor=operator, team=team, target=locked, data={"reason": why}, ip=ip)
    return locked


@transaction.atomic
def requeue_turn(session: Session, operator: User, *, reason: str, ip: str | None = None) -> None:
    """Have a turn taken up whose worker is gone, or whose ring was lost.

    Raises: Conflict when it is over, waits for a person, or a worker holds it.
    """
    why = clean_reason(reason)
    locked = lock_session(session.pk)
    if locked.state == State.IDLE:
        raise Conflict(_("This turn has ended."))
    if locked.state == State.WAITING:
        raise Conflict(_("This turn is waiting for a person, not for a worker."))
    free = Q(lease_until=None) | Q(lease_until__lt=Now())
    # As when its owner dies: the name stays, and whatever comes from that one late is refused.
    if not Run.objects.filter(free, session=locked).update(lease_until=None, token=F("token") + 1):
        raise Conflict(_("An active worker holds this turn. Stop the turn instead."))
    record(
        AuditAction.OPERATOR_REQUEUED_TURN,
        actor=operator,
        team=locked.project.team,
        target=locked,
        data={"reason": why},
        ip=ip,
    )
    wake(locked.pk, locked.project)


@transaction.atomic
def drain_process(
    process: ServerProcess, operator: User, *, reason: str, ip: str | None = None
) -> None:
    """Have a process take up no session, and end what it has begun.

    Raises: Conflict when it takes none anyway.
    """
    why = clean_reason(reason)
    if process.kind == ServerProcess.Kind.WEB:
        raise Conflict(_("This process only serves pages."))
    rows = ServerProcess.objects.filter(pk=process.pk, drain_since=None)
    if not rows.update(drain_since=Now(), drain_by=operator):
        raise Conflict(_("This process is already draining."))
    _tell(process, operator, AuditAction.OPERATOR_DRAINED_WORKER, why, drains=True, ip=ip)


@transaction.atomic
def resume_process(
    process: ServerProcess, operator: User, *, reason: str, ip: str | None = None
) -> None:
    """Have a process that drains take up sessions again. Raises: Conflict when it does not."""
    why = clean_reason(reason)
    rows = ServerProcess.objects.filter(pk=process.pk).exclude(drain_since=None)
    if not rows.update(drain_since=None, drain_by=None):
        raise Conflict(_("This process is not draining."))
    _tell(process, operator, AuditAction.OPERATOR_RESUMED_WORKER, why, drains=False, ip=ip)


def _tell(
    process: ServerProcess,
    operator: User,
    action: AuditAction,
    reason: str,
    *,
    drains: bool,
    ip: str | None,
) -> None:
    record(action, actor=operator, team=None, target=process, data={"reason": reason}, ip=ip)
    signal_drain(process.pk, drains=drains)
