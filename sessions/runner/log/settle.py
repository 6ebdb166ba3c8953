"""Bring what is open to an end: after a stop, and after the death of an owner.

Source: design 3.4 to 3.6. A call that may have had effects is never repeated.
"""

from __future__ import annotations

import time

from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.reasons import Cause, Told, english
from sessions.events.messages import AssistantMessage, MessageError
from sessions.events.parts import (
    PartTime,
    ReasoningPart,
    TextPart,
    ToolFailed,
    ToolPart,
    ToolRunning,
)
from sessions.events.reasons import CAUSE, told_by_error
from sessions.events.types import MessageUpdated, PartUpdated, SessionEvent
from sessions.runner.log.history import SUSPENDED, Answer

MARK: JsonObject = {"interrupted": True}


def now_ms() -> int:
    """Units: milliseconds since the epoch."""
    return int(time.time() * 1000)


def close_text(part: TextPart | ReasoningPart) -> PartUpdated:
    """End a growing text where it is, and mark it."""
    assert part.time is not None
    closed = part.model_copy(
        update={
            "time": PartTime(start=part.time.start, end=now_ms()),
            "metadata": {**(part.metadata or {}), **MARK},
        }
    )
    return PartUpdated(part=closed)


def fail_call(part: ToolPart, told: Told, **metadata: JsonValue) -> PartUpdated:
    """Settle a call as an error that the model reads; people read the cause, where it is one."""
    now = now_ms()
    error = english(told)
    if isinstance(told, Cause):
        error = f"{error.removesuffix('.')}."
        metadata = {CAUSE: told.to_json(), **metadata}
    started = part.state.time.start if isinstance(part.state, ToolRunning) else now
    shown = (part.state.metadata if isinstance(part.state, ToolRunning) else None) or {}
    kept = {key: value for key, value in shown.items() if key != SUSPENDED}
    state = ToolFailed(
        input=part.state.input,
        error=error,
        metadata={**kept, **metadata} or None,
        time=PartTime(start=started, end=now),
    )
    return PartUpdated(part=part.model_copy(update={"state": state}))


def settle_answer(
    answer: Answer, *, error: MessageError, calls: list[ToolPart]
) -> list[SessionEvent]:
    """End every open text, fail the given calls, and give the message its error."""
    told = told_by_error(error)
    events: list[SessionEvent] = [close_text(part) for part in answer.growing]
    events += [fail_call(part, told, interrupted=True) for part in calls]
    events.append(MessageUpdated(info=completed(answer.info, error=error)))
    return events


def completed(info: AssistantMessage, *, error: MessageError | None = None) -> AssistantMessage:
    """The message with its end, which is now."""
    time = info.time.model_copy(update={"completed": now_ms()})
    return info.model_copy(update={"time": time, "error": error})
