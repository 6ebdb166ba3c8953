"""One transaction at each step boundary: append what the step brought, then decide what is next."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from opencode_web.lib.reasons import Cause
from sessions.authors import may_prompt
from sessions.events.parts import ToolPart
from sessions.events.reasons import TurnReason
from sessions.events.store import append, lock_session
from sessions.events.types import SessionEvent
from sessions.models import PermissionRequest, QuestionRequest, Session, State, WaitsFor
from sessions.runner.calls.subagents import working_calls
from sessions.runner.drain.abandoned import settle_left
from sessions.runner.drain.attempts import start_over, try_again
from sessions.runner.drain.endings import hand_over, refuse, stop, stop_at_limit, suspend
from sessions.runner.drain.next_turn import next_turn
from sessions.runner.drain.restore import begin_restore
from sessions.runner.drain.turn_limits import reached_equal_calls
from sessions.runner.log.deadlines import expire_requests
from sessions.runner.log.funds import release_turn, settle_turn, wait_no_longer
from sessions.runner.log.history import (
    Answer,
    is_suspended,
    newest_answer,
    newest_prompt,
    repeated_call,
)
from sessions.runner.log.lease import Lease, release_lease
from sessions.runner.log.steps import Next, Stopping, ToolStep
from sessions.runner.turn.start import go_on


@transaction.atomic
def begin(lease: Lease) -> Next | None:
    """Settle what an earlier owner left open, and decide. Returns and raises: like `advance`."""
    session = lock_session(lease.session_id, token=lease.token)
    return _decide(session, lease, takes_up=True)


@transaction.atomic
def advance(
    lease: Lease,
    events: Sequence[SessionEvent] = (),
    *,
    held: frozenset[str] = frozenset(),
    leaves: bool = False,
    counted: bool = False,
) -> Next | None:
    """Append the closing events of a step and decide.

    `held` are the ids of calls that wait for sub-agents. `leaves`: this process is about to end, so
    what is left to do is handed over. `counted`: they say what a call of a model has cost.

    Returns: None when the drain is over: the session is idle, suspended or handed over, and the
    lease is released, both in this transaction.
    Raises: LeaseLost.
    """
    session = lock_session(lease.session_id, token=lease.token)
    append(session, events)
    if counted:
        release_turn(session)
    return _decide(session, lease, held=held, leaves=leaves)


@transaction.atomic
def settle_cancelled(lease: Lease, events: Sequence[SessionEvent] = ()) -> bool:
    """Settle a session whose drain was cancelled. `events` say what its turn has changed.

    Returns: False when nobody asked for it any more: then the session is handed to the next drain.
    Raises: LeaseLost.
    """
    session = lock_session(lease.session_id, token=lease.token)
    settle_turn(session)
    wait_no_longer(session)
    # Files that go back are not stopped half-way.
    if session.run.stop_requested_at is None or session.run.restore:
        hand_over(session, lease)
        return False
    append(session, events)
    stop(session, lease)
    return True


def _decide(
    session: Session,
    lease: Lease,
    *,
    held: frozenset[str] = frozenset(),
    takes_up: bool = False,
    leaves: bool = False,
) -> Next | None:
    settle_turn(session)
    if takes_up and session.state == State.WAITING:
        expire_requests(session)
    answer = newest_answer(session)
    retries = session.waits_for == WaitsFor.RETRY
    if session.run.restore or session.run.stop_requested_at is not None:
        restores = bool(session.run.restore)
        return begin_restore(session, lease) if restores else Stopping(session.pk)
    if retries and answer is not None:
        return try_again(session, lease, answer, is_known=takes_up, leaves=leaves)
    if takes_up and answer is not None and answer.is_half and not lease.taken_over:
        return start_over(session, lease, answer)
    if takes_up and answer is not None and settle_left(session, lease, answer):
        answer = newest_answer(session)
    step = _open_step(session, answer, held) if answer is not None else None
    if answer is None or step is None:
        return next_turn(session, lease, answer, leaves=leaves, takes_up=takes_up)
    if takes_up and session.waits_for == WaitsFor.CHILDREN and not _is_any_settled(session, answer):
        release_lease(lease)
        return None
    return _go_through(session, lease, answer, step, leaves=leaves)


def _open_step(session: Session, answer: Answer, held: frozenset[str]) -> ToolStep | None:
    """The step of a finished stream that is not closed yet."""
    if answer.info.time.completed is not None or answer.info.finish is None:
        return None
    asked = set[str]()
    for model in (PermissionRequest, QuestionRequest):
        pending = model.objects.pending().filter(session=session)
        asked.update(pending.values_list("call_id", flat=True))
    if held:
        held &= working_calls(session, answer.pending)  # others have come to an end in the meantime
    unasked = [part for part in answer.pending if asked.isdisjoint(_asks_of(part))]
    calls = [part for part in unasked if part.id not in held]
    return ToolStep(
        session=session,
        info=answer.info,
        start=answer.start,
        calls=calls,
        waiting=len(answer.pending) - len(unasked),
        held=len(unasked) - len(calls),
    )


def _asks_of(part: ToolPart) -> tuple[str, str]:
    """The calls whose requests have to be answered before this one can go on."""
    return part.callID, repeated_call(part)


def _is_any_settled(session: Session, answer: Answer) -> bool:
    """Whether a call that waits for its sub-agent can go on, or never had one."""
    waiting = {part.id for part in answer.pending if is_suspended(part)}
    return bool(waiting - working_calls(session, answer.pending))


def _go_through(
    session: Session, lease: Lease, answer: Answer, step: ToolStep, *, leaves: bool
) -> Next | None:
    """Run the calls of a step that can run, or suspend the session."""
    if not step.calls and (step.waiting or step.held):
        suspend(session, lease, on="person" if step.waiting else "children")
        return None
    if leaves:
        hand_over(session, lease)
        return None
    prompt = newest_prompt(session)
    if step.calls and prompt is not None and not may_prompt(prompt.author, session):
        refuse(session, lease, answer, Cause(TurnReason.AUTHOR_GONE))
        return None
    limit = reached_equal_calls(session, step.calls)
    if prompt is not None and limit is not None:
        stop_at_limit(session, lease, prompt, answer, limit)
        return None
    go_on(session)
    return step
