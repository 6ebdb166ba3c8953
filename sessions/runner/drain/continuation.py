"""Whether an answer is to be followed by another one without a new prompt."""

from __future__ import annotations

from providers.llm.events import FinishReason
from sessions.models import Session
from sessions.runner.calls.command_calls import is_typed_step
from sessions.runner.compaction.compact import can_compact
from sessions.runner.log.history import Answer


def requires_continuation(session: Session, answer: Answer | None) -> bool:
    """Whether the model is asked again. None: the newest message is a prompt, or there is none."""
    if answer is None:
        return session.messages.exists()
    if answer.overflowed:
        # A summary that was too long has had its shorter try.
        return not answer.info.summary and can_compact(session)
    if answer.info.error is not None:
        return answer.was_interrupted
    if answer.was_rejected or answer.ending or answer.info.structured is not None:
        return False
    if is_typed_step(session, answer):
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
