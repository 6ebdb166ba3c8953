"""How a drain ends: idle, suspended, stopped or failed, in the transaction of the last event."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from django.db import transaction
from django.utils import timezone

from opencode_web.lib.disk import DISK_FULL, is_disk_full
from opencode_web.lib.errors import AppError
from opencode_web.lib.reasons import Cause, Told
from sessions.actions.control import stop_below
from sessions.actions.requests import close_requests
from sessions.authors import without_author
from sessions.changes.failed_calls import load_failed
from sessions.changes.restore_request import write_request
from sessions.events.reasons import TurnReason, told_by_error, told_error
from sessions.events.store import append, lock_session
from sessions.events.types import (
    MessageUpdated,
    SessionEvent,
    SessionFailed,
    SessionStatus,
)
from sessions.inbox import pending_inputs
from sessions.models import PermissionRequest, QuestionRequest, Session, State
from sessions.runner.compaction.compact import ContextFull
from sessions.runner.log.answers import failed_answer
from sessions.runner.log.deadlines import next_deadline
from sessions.runner.log.funds import settle_turn
from sessions.runner.log.history import Answer, Prompted, newest_answer
from sessions.runner.log.lease import Lease, release_lease
from sessions.runner.log.settle import completed, fail_call, settle_answer
from sessions.wake import wake, wake_at, wake_title
from sessions.wire import to_ms
from tools.context import SuspendedOn


def suspend(session: Session, lease: Lease, *, on: SuspendedOn | Literal["budget"]) -> None:
    """Wait without a worker. The answer, or the end of the last sub-agent, wakes the session."""
    deadline = None if on == "children" else next_deadline(session)
    if session.waits_for != on or session.wake_at != deadline:
        state: Literal["waiting", "busy"] = "busy" if on == "children" else "waiting"
        until = None if deadline is None else to_ms(deadline)
        append(session, [SessionStatus(state=state, waits_for=on, until=until)])
    if deadline is not None:
        wake_at(session.pk, session.project, deadline)
    release_lease(lease)


def decline(session: Session, lease: Lease, request: PermissionRequest) -> None:
    """End the turn because somebody has refused what it needs. The inbox is held, as by a stop."""
    append(session, [_refused(request)])
    leave(session, lease, since=timezone.now())


def hand_over(session: Session, lease: Lease) -> None:
    """Leave a session that is not done, in the middle of its work, for the next worker."""
    release_lease(lease)
    wake(session.pk, session.project)


def finish(session: Session, lease: Lease, answer: Answer | None) -> None:
    """Nothing is left to do: idle, with how the turn ended."""
    if session.state != State.IDLE:
        append(session, [_outcome(session, answer)])
    if session.run.title_due and answer is not None and answer.info.error is None:
        wake_title(session.pk, session.project)
    _end(session, lease)


def _end(session: Session, lease: Lease) -> None:
    """Release the lease of a session that is idle. The call that a sub-agent worked for goes on."""
    if session.run.recoveries:  # the next turn has its own
        session.run.recoveries = 0
        session.run.save(update_fields=["recoveries"])
    release_lease(lease)
    if session.parent_id is not None:
        wake(session.parent_id, session.project)


def _outcome(session: Session, answer: Answer | None) -> SessionStatus:
    if answer is not None and answer.info.error is not None:
        outcome = "interrupted" if answer.was_interrupted else "failed"
        told = told_by_error(answer.info.error)
        return SessionStatus(state="idle", outcome=outcome).saying(told)
    if answer is not None and answer.was_rejected:
        return _refused(
            session.permissions.filter(status__in=("reject", "expired"))
            .select_related("replied_by")
            .order_by("-replied_at")
            .first(),
            session.questions.filter(status__in=("reject", "expired"))
            .select_related("replied_by")
            .order_by("-replied_at")
            .first(),
        )
    if answer is not None and answer.ending:
        return SessionStatus(state="idle", outcome="stopped").saying(answer.ending)
    return SessionStatus(state="idle", outcome="done").saying(_failures(session, answer))


def _failures(session: Session, answer: Answer | None) -> Told:
    if answer is None or not (answer.tools or session.turn_steps > 1):
        return ""
    count = load_failed(session)
    reason = TurnReason.CALL_FAILED if count == 1 else TurnReason.CALLS_FAILED
    return Cause(reason, {"count": count}) if count else ""


def _refused(
    permission: PermissionRequest | None, question: QuestionRequest | None = None
) -> SessionStatus:
    """What ended the turn: the newer of the two that were refused last."""
    request: PermissionRequest | QuestionRequest | None = permission
    if question is not None and _is_newer(question, permission):
        request = question
    by = request.replied_by if request else None
    is_question = isinstance(request, QuestionRequest)
    name = by.display_name if by else Cause(TurnReason.SOMEBODY)
    reason = TurnReason.DISMISSED if is_question else TurnReason.REJECTED
    cause = Cause(reason, {"name": name})
    if request is not None and request.status == "expired":
        cause = Cause(TurnReason.EXPIRED)
    by_id = by.pk if by else None
    return SessionStatus(state="idle", outcome="stopped", by_id=by_id).saying(cause)


def _is_newer(question: QuestionRequest, permission: PermissionRequest | None) -> bool:
    if permission is None or permission.replied_at is None or question.replied_at is None:
        return permission is None
    if question.replied_at != permission.replied_at:
        return question.replied_at > permission.replied_at
    # One answer has closed both: most likely that to what was asked first.
    return question.created_at < permission.created_at


def fail_turn(session: Session, lease: Lease, prompt: Prompted, exc: AppError) -> None:
    """The turn of a prompt cannot even start. Prompts of others behind it still get theirs."""
    name = exc.wire_name if isinstance(exc, ContextFull) else "UnknownError"
    error = told_error(exc.told, name=name)
    append(
        session,
        [
            MessageUpdated(info=failed_answer(session, prompt.info, error)),
            SessionFailed(error=error),
            SessionStatus(state="idle", outcome="failed").saying(exc.told),
        ],
    )
    leave(session, lease)


def refuse(session: Session, lease: Lease, answer: Answer, told: Told) -> None:
    """The open calls of a step may not run any more, and the turn ends."""
    error = told_error(told)
    append(
        session,
        [
            *close_requests(session, "cancelled", by_id=None),
            *settle_answer(answer, error=error, calls=answer.pending),
            SessionFailed(error=error),
            SessionStatus(state="idle", outcome="failed").saying(told),
        ],
    )
    stop_below(session, None)
    leave(session, lease)


def stop_at_limit(
    session: Session,
    lease: Lease,
    prompt: Prompted,
    answer: Answer | None,
    limit: Cause,
) -> None:
    """A turn has reached a limit: none of its open calls is run, and a person decides."""
    events: list[SessionEvent] = []
    if answer is not None and answer.info.time.completed is None:
        events += close_requests(session, "cancelled", by_id=None)
        events += [fail_call(part, limit) for part in answer.pending]
        events.append(MessageUpdated(info=completed(answer.info)))
    # The error is a message of its own, so the model still reads the answer.
    error = told_error(limit)
    events.append(MessageUpdated(info=failed_answer(session, prompt.info, error)))
    status = SessionStatus(state="idle", outcome="stopped").saying(limit)
    append(session, [*events, SessionFailed(error=error), status])
    stop_below(session, None)
    leave(session, lease)


def leave(session: Session, lease: Lease, *, since: datetime | None = None) -> None:
    """End a session that is idle, and have prompts taken up that wait (since then)."""
    _end(session, lease)
    waiting = pending_inputs(session.pk)
    if any(since is None or row.created_at > since for row in waiting):
        append(session, [SessionStatus(state="busy")])
        wake(session.pk, session.project)


def stop(session: Session, lease: Lease) -> None:
    """Settle everything that is open because somebody asked for it, and say who.

    Prompts that wait since before are held in the inbox; one that came later gets its turn.
    """
    by, asked_at = session.run.stop_requested_by, session.run.stop_requested_at
    assert asked_at is not None
    by_operator = session.run.stop_by_operator
    is_author_gone = by is None and bool(without_author([session.pk]))
    if by is not None:
        reason = TurnReason.STOPPED_BY_OPERATOR if by_operator else TurnReason.STOPPED_BY
        cause = Cause(reason, {"name": by.display_name})
    else:
        cause = Cause(TurnReason.AUTHOR_GONE if is_author_gone else TurnReason.STOPPED)
    events = close_requests(session, "cancelled", by_id=by.pk if by else None)
    answer = newest_answer(session)
    if answer is not None and answer.info.time.completed is None:
        error = told_error(cause, name="MessageAbortedError")
        calls = [*answer.running, *answer.pending]
        events.append(SessionFailed(error=error))
        events += settle_answer(answer, error=error, calls=calls)
    if session.state != State.IDLE:
        by_id = by.pk if by else None
        events.append(SessionStatus(state="idle", outcome="stopped", by_id=by_id).saying(cause))
    append(session, events)
    stop_below(session, by, by_operator=by_operator)
    forget_stop(session)
    # What others have asked for is not held up by it.
    leave(session, lease, since=None if is_author_gone else asked_at)


def forget_stop(session: Session) -> None:
    """What was asked is done, or was no longer there to be done."""
    session.run.stop_requested_at = session.run.stop_requested_by = None
    session.run.stop_by_operator = False
    fields = ["stop_requested_at", "stop_requested_by", "stop_by_operator"]
    session.run.save(update_fields=fields)


@transaction.atomic
def fail_drain(lease: Lease, exc: BaseException) -> None:
    """End a session whose drain hit a fault of ours or a full disk. The log has the details."""
    cause = DISK_FULL if is_disk_full(exc) else Cause(TurnReason.FAULT)
    session = lock_session(lease.session_id, token=lease.token)
    settle_turn(session)
    error = told_error(cause)
    events = close_requests(session, "cancelled", by_id=None)
    events.append(SessionFailed(error=error))
    answer = newest_answer(session)
    if answer is not None and answer.info.time.completed is None:
        calls = [*answer.running, *answer.pending]
        events += settle_answer(answer, error=error, calls=calls)
    events.append(SessionStatus(state="idle", outcome="failed").saying(cause))
    append(session, events)
    stop_below(session, None)
    forget_stop(session)
    write_request(session, None)
    _end(session, lease)
