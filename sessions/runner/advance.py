"""One transaction at each step boundary: append what the step brought, then decide what is next."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from opencode_web.lib.errors import AppError
from sessions.actions.sessions import is_default_title
from sessions.events.messages import MessageError
from sessions.events.parts import ToolPart
from sessions.events.store import append, lock_session
from sessions.events.types import (
    InputCancelled,
    MessageUpdated,
    PartUpdated,
    PermissionReplied,
    SessionEvent,
    SessionFailed,
    SessionStatus,
    SessionUpdated,
)
from sessions.inbox import Boundary, pending_inputs, promotion_events, select_inputs
from sessions.models import PermissionRequest, Session, SessionInput, State
from sessions.runner.history import Answer, Prompted, newest_answer, newest_prompt
from sessions.runner.lease import Lease, release_lease
from sessions.runner.settle import fail_call, settle_answer
from sessions.runner.start import failed_answer, start_turn
from sessions.runner.steps import Next, ToolStep
from sessions.runner.titles import title_from

MAX_RECOVERIES = 3
LOST = "Interrupted: the worker that ran this was lost."


@transaction.atomic
def advance(lease: Lease, events: Sequence[SessionEvent] = ()) -> Next | None:
    """Append the closing events of a step and decide.

    Returns: None when the drain is over: the session is idle or parked and the lease is released,
    both in this transaction.
    Raises: LeaseLost.
    """
    session = lock_session(lease.session_id, token=lease.token)
    if events:
        append(session, events)
    if session.run.stop_requested_at is not None:
        _stop(session, lease)
        return None
    answer = newest_answer(session)
    if answer is not None:
        step = _open_step(session, answer)
        if step is not None:
            if step.calls or not step.waiting:
                return step
            _park(session, lease)
            return None
    return _next_turn(session, lease, answer)


@transaction.atomic
def recover(lease: Lease) -> None:
    """Settle what a dead owner left: calls that had begun become errors, partial text is marked.

    Calls that wait for a person are kept; so is a message whose step only has to be closed.
    Raises: LeaseLost.
    """
    session = lock_session(lease.session_id, token=lease.token)
    answer = newest_answer(session)
    if answer is None or answer.info.time.completed is not None:
        return
    if lease.taken_over:
        session.run.recoveries += 1
        session.run.save(update_fields=["recoveries"])
    begun = answer.running
    if answer.info.finish is not None:
        # The stream was complete: only the calls that had begun are in doubt.
        append(session, [_failed_call(part) for part in begun])
        return
    error = MessageError(name="MessageAbortedError", data={"message": LOST, "interrupted": True})
    calls = [*begun, *answer.pending]
    append(session, settle_answer(answer, error=error, reason=LOST, calls=calls))


def _failed_call(part: ToolPart) -> PartUpdated:
    return fail_call(
        part, f"{LOST} It may have had effects; look before you repeat it.", interrupted=True
    )


def _open_step(session: Session, answer: Answer) -> ToolStep | None:
    """The step of a finished stream that is not closed yet."""
    if answer.info.time.completed is not None or answer.info.finish is None:
        return None
    asked = set(
        session.permissions.filter(status=PermissionRequest.Status.PENDING).values_list(
            "call_id", flat=True
        )
    )
    calls = [part for part in answer.pending if part.callID not in asked]
    return ToolStep(
        session=session,
        info=answer.info,
        snapshot=answer.snapshot,
        calls=calls,
        waiting=len(answer.pending) - len(calls),
    )


def _park(session: Session, lease: Lease) -> None:
    if session.state != State.WAITING:
        append(session, [SessionStatus(state="waiting")])
    release_lease(lease)


def _next_turn(session: Session, lease: Lease, answer: Answer | None) -> Next | None:
    goes_on = session.state != State.IDLE and _requires_continuation(session, answer)
    boundary = Boundary.STEP if goes_on else Boundary.TURN
    rows = select_inputs(pending_inputs(session.pk), boundary)
    if rows:
        _promote(session, rows)
    elif not goes_on:
        _finish(session, lease, answer)
        return None
    if session.state != State.BUSY:
        append(session, [SessionStatus(state="busy")])
    prompt = newest_prompt(session)
    if prompt is None:
        _finish(session, lease, answer)
        return None
    try:
        return start_turn(session, prompt)
    except AppError as exc:
        # Somebody took the model, its key or the author's role away since the prompt was admitted.
        _fail(session, lease, prompt, exc)
        return None


def _requires_continuation(session: Session, answer: Answer | None) -> bool:
    if answer is None:
        return session.messages.exists()
    if answer.info.error is not None:
        return answer.was_interrupted and session.run.recoveries < MAX_RECOVERIES
    return bool(answer.tools) and not answer.was_rejected


def _promote(session: Session, rows: list[SessionInput]) -> None:
    events = promotion_events(session, rows)
    if is_default_title(session.title):
        title = title_from(rows[0])
        if title:
            events.append(SessionUpdated(title=title))
    append(session, events)


def _finish(session: Session, lease: Lease, answer: Answer | None) -> None:
    if session.state != State.IDLE:
        append(session, [_outcome(session, answer)])
    session.run.recoveries = 0
    session.run.save(update_fields=["recoveries"])
    release_lease(lease)


def _outcome(session: Session, answer: Answer | None) -> SessionStatus:
    if answer is not None and answer.info.error is not None:
        text = str(answer.info.error.data.get("message", answer.info.error.name))
        outcome = "interrupted" if answer.was_interrupted else "failed"
        return SessionStatus(state="idle", outcome=outcome, detail=text)
    if answer is not None and answer.was_rejected:
        request = (
            session.permissions.filter(status="reject")
            .select_related("replied_by")
            .order_by("-replied_at")
            .first()
        )
        by = request.replied_by if request else None
        who = (by.name or by.email) if by else "somebody"
        return SessionStatus(
            state="idle",
            outcome="stopped",
            detail=f"Rejected by {who}",
            by_id=by.pk if by else None,
        )
    return SessionStatus(state="idle", outcome="done")


def _fail(session: Session, lease: Lease, prompt: Prompted, exc: AppError) -> None:
    info = failed_answer(session, prompt.info, exc.message)
    assert info.error is not None
    append(
        session,
        [
            MessageUpdated(info=info),
            SessionFailed(error=info.error),
            SessionStatus(state="idle", outcome="failed", detail=exc.message),
        ],
    )
    release_lease(lease)


def _stop(session: Session, lease: Lease) -> None:
    """Settle everything that is open because somebody asked for it, and say who."""
    by = session.run.stop_requested_by
    detail = f"Stopped by {by.name or by.email}" if by else "Stopped"
    events: list[SessionEvent] = [
        PermissionReplied(id=request.pk, reply="cancelled", by_id=by.pk if by else None)
        for request in session.permissions.filter(status="pending").order_by("pk")
    ]
    events += [
        InputCancelled(id=row.pk, by_id=by.pk if by else None) for row in pending_inputs(session.pk)
    ]
    answer = newest_answer(session)
    if answer is not None and answer.info.time.completed is None:
        error = MessageError(name="MessageAbortedError", data={"message": detail})
        calls = [*answer.running, *answer.pending]
        events.append(SessionFailed(error=error))
        events += settle_answer(answer, error=error, reason=f"{detail}.", calls=calls)
    if session.state != State.IDLE:
        events.append(
            SessionStatus(
                state="idle", outcome="stopped", detail=detail, by_id=by.pk if by else None
            )
        )
    append(session, events)
    session.run.stop_requested_at = session.run.stop_requested_by = None
    session.run.recoveries = 0
    session.run.save(update_fields=["stop_requested_at", "stop_requested_by", "recoveries"])
    release_lease(lease)


@transaction.atomic
def fail_drain(lease: Lease) -> None:
    """End a session whose drain hit a fault of ours. The log of the server has the details."""
    session = lock_session(lease.session_id, token=lease.token)
    message = "The server failed while it worked on this; the fault was logged. You can go on."
    error = MessageError(name="UnknownError", data={"message": message})
    events: list[SessionEvent] = [SessionFailed(error=error)]
    answer = newest_answer(session)
    if answer is not None and answer.info.time.completed is None:
        calls = [*answer.running, *answer.pending]
        events += settle_answer(answer, error=error, reason=message, calls=calls)
    events.append(SessionStatus(state="idle", outcome="failed", detail=message))
    append(session, events)
    release_lease(lease)
