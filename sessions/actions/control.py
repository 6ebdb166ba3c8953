from __future__ import annotations

from collections.abc import Collection

from django.db import transaction
from django.utils import timezone

from sessions.access import SessionAccess
from sessions.actions.admission import require_admission
from sessions.authors import without_author
from sessions.events.reasons import told_by_session
from sessions.events.store import append, lock_session
from sessions.events.types import SessionStatus
from sessions.models import Run, Session, State, WaitsFor
from sessions.tree import sessions_below
from sessions.wake import signal_stop, wake
from sessions.wire import to_ms
from teams.audit import AuditAction, record
from teams.models import User


@transaction.atomic
def request_stop(access: SessionAccess) -> bool:
    """Interrupt whatever the session does: the provider stream, its tools, a waiting request.

    The request is durable. The owner of the lease is told at once; without a live owner, whoever
    takes the session over settles it.

    Returns: False when it was idle, and nothing was done.
    """
    return stop_session(lock_session(access.session.pk), access)


def stop_session(session: Session, access: SessionAccess) -> bool:
    """As `request_stop`, for a session that is locked."""
    if not interrupt(session, access.principal.user):
        return False
    record(
        AuditAction.SESSION_INTERRUPTED,
        actor=access.principal.user,
        team=access.team.team,
        target=session,
    )
    return True


def interrupt(session: Session, user: User, *, by_operator: bool = False) -> bool:
    """Ask a locked session to stop, with its sub-agents, and tell who works on it.

    Returns: False when it was idle, and nothing was done.
    """
    if session.state == State.IDLE and not session.inputs.filter(status="admitted").exists():
        return False
    Run.objects.filter(session=session, stop_requested_at=None).update(
        stop_requested_at=timezone.now(), stop_requested_by=user, stop_by_operator=by_operator
    )
    signal_stop(session.pk)
    wake(session.pk, session.project)
    stop_below(session, user, by_operator=by_operator)
    return True


def stop_without_author(session_ids: Collection[str]) -> list[str]:
    """Ask the sessions to stop that work for somebody who may not prompt any more.

    Returns: those.
    """
    lost = without_author(session_ids)
    # One by one, each committed at once: they may be of one tree, whose order this does not know.
    for session_id in lost:
        # One that has ended meanwhile would stop the next turn, of whoever prompts it.
        working = Run.objects.filter(session=session_id).exclude(session__state=State.IDLE)
        working.filter(stop_requested_at=None).update(stop_requested_at=timezone.now())
    return lost


def stop_below(session: Session, user: User | None, *, by_operator: bool = False) -> None:
    """Interrupt every sub-agent of a locked session that works, and theirs."""
    working = [row.pk for row in sessions_below(session) if row.state != State.IDLE]
    for session_id in working:
        # Not all in one statement, which would lock them in an order of its own.
        Run.objects.filter(session=session_id, stop_requested_at=None).update(
            stop_requested_at=timezone.now(), stop_requested_by=user, stop_by_operator=by_operator
        )
        signal_stop(session_id)
        wake(session_id, session.project)


@transaction.atomic
def resume_session(access: SessionAccess) -> bool:
    """Have the prompts taken up that a stop has held in the inbox.

    Returns: False when none waits, or the session works already.
    Raises: Conflict when the session takes no prompts.
    """
    session = lock_session(access.session.pk)
    if session.state != State.IDLE or not session.inputs.filter(status="admitted").exists():
        return False
    require_admission(session, access.principal.user.pk)
    append(session, [SessionStatus(state="busy")])
    _record_resumed(access, session)
    wake(session.pk, session.project)
    return True


@transaction.atomic
def retry_now(access: SessionAccess) -> bool:
    """Make the next try of a failed provider turn now instead of at its time.

    Returns: False when the session does not wait for one.
    """
    session = lock_session(access.session.pk)
    if session.waits_for != WaitsFor.RETRY:
        return False
    append(
        session,
        [
            SessionStatus(
                state="busy",
                waits_for="retry",
                until=to_ms(timezone.now()),
                attempt=session.attempt,
            ).saying(told_by_session(session))
        ],
    )
    _record_resumed(access, session)
    wake(session.pk, session.project)
    return True


def _record_resumed(access: SessionAccess, session: Session) -> None:
    user, team = access.principal.user, access.team.team
    record(AuditAction.SESSION_RESUMED, actor=user, team=team, target=session)
