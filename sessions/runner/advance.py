"""One transaction at each step boundary: append what the step brought, then decide what is next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from opencode_web.lib.errors import AppError, NotFound
from providers.events import FinishReason
from sessions.access import may_prompt
from sessions.actions.sessions import is_default_title
from sessions.events.messages import MessageError
from sessions.events.parts import RetryPart, StepStartPart, ToolPart
from sessions.events.store import append, lock_session
from sessions.events.types import (
    MessageUpdated,
    PartRemoved,
    PartUpdated,
    SessionEvent,
    SessionStatus,
    SessionUpdated,
)
from sessions.inbox import Boundary, pending_inputs, promotion_events, select_inputs
from sessions.models import (
    PermissionRequest,
    QuestionRequest,
    Session,
    SessionInput,
    State,
    WaitsFor,
)
from sessions.runner.budget import is_affordable
from sessions.runner.deadlines import expire_requests
from sessions.runner.endings import fail_turn, finish, hand_over, park, refuse, stop
from sessions.runner.history import Answer, is_parked, newest_answer, newest_prompt
from sessions.runner.lease import Lease, release_lease, take_lease
from sessions.runner.settle import completed, fail_call, settle_answer
from sessions.runner.start import AUTHOR_GONE, start_turn
from sessions.runner.steps import Next, ProviderTurn, Stopping, ToolStep
from sessions.runner.subagents import working_calls
from sessions.runner.titles import title_from
from sessions.wake import wake_at

MAX_RECOVERIES = 3
# A shorter wait for the next try is not worth to give the session out of the hand.
MAX_SLEEP_S = 1.0
LOST = "Interrupted: the worker that ran this was lost."
LEFT = "Interrupted: the server was stopped while this ran."


@transaction.atomic
def take_up(session_id: str) -> tuple[Lease, Next | None] | None:
    """Take the lease, settle what an earlier owner left open, and decide.

    Returns: None when there is nothing to do: the session is idle or gone, or a live worker holds
    the lease. Else like `advance`.
    """
    try:
        session = lock_session(session_id)
    except NotFound:
        return None
    if session.state == State.IDLE and session.run.stop_requested_at is None:
        return None  # a doubled ring must not take up prompts that a stop holds
    lease = take_lease(session)
    return None if lease is None else (lease, _decide(session, lease, takes_up=True))


@transaction.atomic
def advance(
    lease: Lease,
    events: Sequence[SessionEvent] = (),
    *,
    held: frozenset[str] = frozenset(),
    leaves: bool = False,
) -> Next | None:
    """Append the closing events of a step and decide.

    `held` are the ids of calls that wait for sub-agents. `leaves`: this process is about to end, so
    what is left to do is handed over.

    Returns: None when the drain is over: the session is idle, parked or handed over, and the lease
    is released, both in this transaction.
    Raises: LeaseLost.
    """
    session = lock_session(lease.session_id, token=lease.token)
    if events:
        append(session, events)
    return _decide(session, lease, held=held, leaves=leaves)


def _decide(
    session: Session,
    lease: Lease,
    *,
    held: frozenset[str] = frozenset(),
    takes_up: bool = False,
    leaves: bool = False,
) -> Next | None:
    if takes_up and session.state == State.WAITING:
        expire_requests(session)
    answer = newest_answer(session)
    retries = session.waits_for == WaitsFor.RETRY
    if session.run.stop_requested_at is not None:
        return Stopping(session.pk)
    if retries and answer is not None:
        return _try_again(session, lease, answer, is_known=takes_up, leaves=leaves)
    if takes_up and answer is not None and answer.is_half and not lease.taken_over:
        return _start_over(session, lease, answer)
    if takes_up and answer is not None and _settle_left(session, lease, answer):
        answer = newest_answer(session)
    step = _open_step(session, answer, held) if answer is not None else None
    if answer is None or step is None:
        return _next_turn(session, lease, answer, leaves=leaves)
    if takes_up and session.waits_for == WaitsFor.CHILDREN and not _is_any_settled(session, answer):
        release_lease(lease)
        return None
    return _go_through(session, lease, answer, step, leaves=leaves)


def _go_through(
    session: Session, lease: Lease, answer: Answer, step: ToolStep, *, leaves: bool
) -> Next | None:
    """Run what can be run of a step, or park."""
    if not step.calls and (step.waiting or step.held):
        park(session, lease, on="person" if step.waiting else "children")
        return None
    if leaves:
        hand_over(session, lease)
        return None
    prompt = newest_prompt(session)
    if step.calls and prompt is not None and not may_prompt(prompt.author, session.project):
        refuse(session, lease, answer, AUTHOR_GONE)
        return None
    _go_on(session)
    return step


def _try_again(
    session: Session, lease: Lease, answer: Answer, *, is_known: bool, leaves: bool
) -> Next | None:
    """Make the next try of an answer when it is due. `is_known`: an alarm for it is set already."""
    assert session.wake_at is not None
    wait_s = (session.wake_at - timezone.now()).total_seconds()
    if wait_s > MAX_SLEEP_S or leaves:
        if not is_known:
            wake_at(session.pk, session.project, session.wake_at)
        release_lease(lease)
        return None
    attempt = session.attempt + 1
    step = _fill(session, lease, answer)
    if isinstance(step, ProviderTurn):
        return replace(step, attempt=attempt, wait_s=max(0.0, wait_s))
    return step


def _start_over(session: Session, lease: Lease, answer: Answer) -> Next | None:
    """Ask again for an answer that its worker handed over half: nobody is to see a text twice."""
    parts = [part for part in answer.parts if not isinstance(part, StepStartPart | RetryPart)]
    message_id = answer.info.id
    append(session, [PartRemoved(message_id=message_id, part_id=part.id) for part in parts])
    return _fill(session, lease, answer)


def _fill(session: Session, lease: Lease, answer: Answer) -> Next | None:
    """Have an empty answer filled. A steer that came meanwhile goes first."""
    prompt = newest_prompt(session)
    if prompt is None or select_inputs(pending_inputs(session.pk), Boundary.STEP):
        append(session, [MessageUpdated(info=completed(answer.info))])
        return _next_turn(session, lease, answer, leaves=False)
    _go_on(session)
    try:
        return start_turn(session, prompt, again=answer.info)
    except AppError as exc:
        refuse(session, lease, answer, exc.message)
        return None


def _go_on(session: Session) -> None:
    """Say that the session works, when it was idle or parked before."""
    if session.state != State.BUSY or session.waits_for:
        append(session, [SessionStatus(state="busy")])


@transaction.atomic
def settle_cancelled(lease: Lease, events: Sequence[SessionEvent] = ()) -> bool:
    """Settle a session whose drain was cancelled. `events` say what its turn has changed.

    Returns: False when nobody asked for it any more: then the session is handed to the next drain.
    Raises: LeaseLost.
    """
    session = lock_session(lease.session_id, token=lease.token)
    if session.run.stop_requested_at is None:
        hand_over(session, lease)
        return False
    if events:
        append(session, events)
    stop(session, lease)
    return True


def _settle_left(session: Session, lease: Lease, answer: Answer) -> bool:
    """Settle what a dead owner left: calls that had begun become errors, partial text is marked.

    Calls that wait for a person are kept; so is a message whose step only has to be closed.

    Returns: whether anything was open.
    """
    if answer.info.time.completed is not None:
        return False
    if lease.taken_over:
        session.run.recoveries += 1
        session.run.save(update_fields=["recoveries"])
    begun = answer.running
    if answer.info.finish is not None:
        # The stream was complete: only the calls that had begun are in doubt.
        reason = LOST if lease.taken_over else LEFT
        append(session, [_failed_call(part, reason) for part in begun])
        return True
    error = MessageError(name="MessageAbortedError", data={"message": LOST, "interrupted": True})
    calls = [*begun, *answer.pending]
    append(session, settle_answer(answer, error=error, reason=LOST, calls=calls))
    return True


def _failed_call(part: ToolPart, reason: str) -> PartUpdated:
    return fail_call(
        part, f"{reason} It may have had effects; look before you repeat it.", interrupted=True
    )


def _is_any_settled(session: Session, answer: Answer) -> bool:
    """Whether a call that waits for its sub-agent can go on, or never had one."""
    waiting = {part.id for part in answer.pending if is_parked(part)}
    return bool(waiting - working_calls(session))


def _open_step(session: Session, answer: Answer, held: frozenset[str]) -> ToolStep | None:
    """The step of a finished stream that is not closed yet."""
    if answer.info.time.completed is not None or answer.info.finish is None:
        return None
    asked = set(
        session.permissions.filter(status=PermissionRequest.Status.PENDING).values_list(
            "call_id", flat=True
        )
    ) | set(
        session.questions.filter(status=QuestionRequest.Status.PENDING).values_list(
            "call_id", flat=True
        )
    )
    if held:
        held &= working_calls(session)  # others have come to an end in the meantime
    unasked = [part for part in answer.pending if part.callID not in asked]
    calls = [part for part in unasked if part.id not in held]
    return ToolStep(
        session=session,
        info=answer.info,
        snapshot=answer.snapshot,
        calls=calls,
        waiting=len(answer.pending) - len(unasked),
        held=len(unasked) - len(calls),
    )


def _next_turn(
    session: Session, lease: Lease, answer: Answer | None, *, leaves: bool
) -> Next | None:
    # What is rolled back goes for good with the next prompt, which is then the next thing to do.
    is_reverted = session.hidden_from is not None
    goes_on = (
        session.state != State.IDLE and not is_reverted and _requires_continuation(session, answer)
    )
    if session.waits_for == WaitsFor.BUDGET and not _is_paid(session, lease, answer):
        return None
    boundary = Boundary.STEP if goes_on else Boundary.TURN
    rows = select_inputs(pending_inputs(session.pk), boundary)
    if leaves and (rows or goes_on):
        hand_over(session, lease)
        return None
    if rows:
        _promote(session, rows, mid_turn=goes_on and answer is not None)
    elif not goes_on:
        finish(session, lease, answer)
        return None
    return _start(session, lease, None if rows else answer)


def _start(session: Session, lease: Lease, answer: Answer | None) -> Next | None:
    prompt = newest_prompt(session)
    if prompt is None:
        finish(session, lease, answer)
        return None
    if not is_affordable(session, lease, prompt, answer):
        return None
    _go_on(session)
    try:
        return start_turn(session, prompt)
    except AppError as exc:
        # Somebody took the model, its key or the author's role away since the prompt was admitted.
        fail_turn(session, lease, prompt, exc)
        return None


def _is_paid(session: Session, lease: Lease, answer: Answer | None) -> bool:
    """Look at the answer about the cost before anything is promoted: it was given for this turn."""
    prompt = newest_prompt(session)
    return prompt is None or is_affordable(session, lease, prompt, answer)


def _requires_continuation(session: Session, answer: Answer | None) -> bool:
    if answer is None:
        return session.messages.exists()
    if answer.info.error is not None:
        return answer.was_interrupted and session.run.recoveries < MAX_RECOVERIES
    if answer.was_rejected or answer.ending or answer.info.structured is not None:
        return False
    return bool(answer.tools) or _was_cut_short(session, answer)


def _was_cut_short(session: Session, answer: Answer) -> bool:
    """Whether an answer of nothing, which ended for a reason nobody knows, is asked for again.

    Once for each prompt: a provider that always ends so must not be asked without end.
    Source: behaviour facts 4.3, which goes on after every unknown end.
    """
    if answer.info.finish != FinishReason.UNKNOWN or answer.says_something:
        return False
    alike = session.messages.filter(
        role="assistant", data__parentID=answer.info.parentID, data__finish=answer.info.finish
    )
    return alike.count() == 1


def _promote(session: Session, rows: list[SessionInput], *, mid_turn: bool) -> None:
    events = promotion_events(session, rows, mid_turn=mid_turn)
    if is_default_title(session.title):
        title = title_from(rows[0])
        if title:
            events.append(SessionUpdated(title=title))
            session.run.title_due = settings.TITLES and session.parent_id is None
            session.run.save(update_fields=["title_due"])
    append(session, events)
