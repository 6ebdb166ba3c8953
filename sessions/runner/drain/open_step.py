"""The calls of an answer whose stream has ended: run what can be run, or park."""

from __future__ import annotations

from opencode_web.lib.compiled import CompiledQuery
from opencode_web.lib.reasons import Cause
from sessions.access import may_prompt
from sessions.events.parts import ToolPart
from sessions.events.reasons import TurnReason
from sessions.models import PermissionRequest, QuestionRequest, Session
from sessions.runner.calls.subagents import working_calls
from sessions.runner.drain.endings import hand_over, park, refuse, stop_at_limit
from sessions.runner.drain.turn_limits import reached_equal_calls
from sessions.runner.log.history import Answer, is_parked, newest_prompt, repeated_call
from sessions.runner.log.lease import Lease
from sessions.runner.log.steps import Next, ToolStep
from sessions.runner.turn.start import go_on

_PERMISSIONS = CompiledQuery(
    lambda session_id: PermissionRequest.objects.filter(
        session=session_id, status=PermissionRequest.Status.PENDING
    ),
    str,
)
_QUESTIONS = CompiledQuery(
    lambda session_id: QuestionRequest.objects.filter(
        session=session_id, status=QuestionRequest.Status.PENDING
    ),
    str,
)


def open_step(session: Session, answer: Answer, held: frozenset[str]) -> ToolStep | None:
    """The step of a finished stream that is not closed yet."""
    if answer.info.time.completed is not None or answer.info.finish is None:
        return None
    asked = {request.call_id for request in _PERMISSIONS.all(session.pk)}
    asked |= {question.call_id for question in _QUESTIONS.all(session.pk)}
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


def is_any_settled(session: Session, answer: Answer) -> bool:
    """Whether a call that waits for its sub-agent can go on, or never had one."""
    waiting = {part.id for part in answer.pending if is_parked(part)}
    return bool(waiting - working_calls(session, answer.pending))


def go_through(
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
        refuse(session, lease, answer, Cause(TurnReason.AUTHOR_GONE))
        return None
    limit = reached_equal_calls(session, step.calls)
    if prompt is not None and limit is not None:
        stop_at_limit(session, lease, prompt, answer, limit)
        return None
    go_on(session)
    return step
