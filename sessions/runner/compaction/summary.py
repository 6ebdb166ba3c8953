"""The end of a compaction's stream: the summary takes effect, or the answer says why not."""

from __future__ import annotations

from opencode_web.lib.ids import new_id
from opencode_web.lib.reasons import Cause
from providers.llm.events import FinishReason
from providers.tokens import estimate
from sessions.events.compaction import SessionCompacted
from sessions.events.context import EpochEnded
from sessions.events.messages import AssistantMessage
from sessions.events.parts import PartTime, StepFinishPart, TextPart, ToolPart
from sessions.events.reasons import TurnReason, told_error
from sessions.events.types import (
    MessageUpdated,
    PartUpdated,
    SessionEvent,
    SessionFailed,
    SessionUsed,
)
from sessions.runner.compaction.compact import copy_prompt
from sessions.runner.compaction.context_window import is_in_vain
from sessions.runner.log.settle import completed, fail_call, now_ms
from sessions.runner.log.steps import ProviderTurn, Summary

# In the metadata of the text that has the agent go on. Clients know it by this name.
CONTINUES = "compaction_continue"
GO_ON = """\
The older part of this conversation has just been replaced by its summary, to make room. Nobody \
has said anything new. Carry on with what was asked last, from where it stands. If it is done, say \
so briefly; if you cannot tell how to go on, ask."""
_CALLED = "Not run: a summary was asked for, and no tool."


def summary_events(
    turn: ProviderTurn,
    *,
    text: str,
    calls: list[ToolPart],
    finish: FinishReason,
    used: SessionUsed,
    goes_on: bool,
) -> list[SessionEvent]:
    """Returns: the events that follow the end of the text, for `advance` to append."""
    assert turn.summary is not None
    why = _fault(text, calls, finish)
    error = None
    if why is not None:
        error = told_error(Cause(TurnReason.NO_SUMMARY, {"why": Cause(why)}))
    info = turn.info.model_copy(
        update={"finish": finish.value, "tokens": used.tokens, "cost": float(used.cost)}
    )
    step = StepFinishPart(
        id=new_id("prt"),
        sessionID=info.sessionID,
        messageID=info.id,
        reason=finish.value,
        cost=float(used.cost),
        tokens=used.tokens,
    )
    events: list[SessionEvent] = [fail_call(part, _CALLED) for part in calls]
    events += [PartUpdated(part=step), used]
    events.append(MessageUpdated(info=completed(info, error=error)))
    if error is not None:
        return [*events, SessionFailed(error=error)]
    events += _taking_effect(turn.summary, info, text)
    return events + _going_on(turn.summary) if goes_on else events


def _fault(text: str, calls: list[ToolPart], finish: FinishReason) -> TurnReason | None:
    if calls:
        return TurnReason.CALLED_INSTEAD
    if finish == FinishReason.CONTENT_FILTER:
        return TurnReason.SUMMARY_FILTERED
    return None if text.strip() else TurnReason.SUMMARY_EMPTY


def _taking_effect(summary: Summary, info: AssistantMessage, text: str) -> list[SessionEvent]:
    read = summary.kept + estimate(text)
    after = max(read, summary.before - summary.read + read)
    return [
        PartUpdated(part=summary.part),
        SessionCompacted(
            message_id=summary.prompt.id,
            summary_id=info.id,
            history_from=summary.history_from,
            before=summary.before,
            after=after,
            in_vain=is_in_vain(summary.before, after, summary.usable),
        ),
        EpochEnded(reason="compaction"),
    ]


def _going_on(summary: Summary) -> list[SessionEvent]:
    info = copy_prompt(summary.prompt)
    now = now_ms()
    part = TextPart(
        id=new_id("prt"),
        sessionID=info.sessionID,
        messageID=info.id,
        text=GO_ON,
        synthetic=True,
        time=PartTime(start=now, end=now),
        metadata={CONTINUES: True},
    )
    return [MessageUpdated(info=info, author_id=summary.author_id), PartUpdated(part=part)]
