"""Calls that wait for a person or for their sub-agent, without having had an effect themselves."""

from __future__ import annotations

from opencode_web.lib.json import JsonValue
from sessions.events.parts import PartTime, ToolPart, ToolPending, ToolRunning
from sessions.runner.log.history import SUSPENDED, is_suspended
from sessions.runner.log.settle import now_ms

# In the metadata of a call's part, where OpenCode's clients look for it too: its child.
CHILD = "sessionId"


def suspended(part: ToolPart, *, title: str | None = None, **shown: JsonValue) -> ToolPart:
    """Returns: the call as running, so that clients show its input, and safe to run again."""
    state = _running(part)
    metadata = {**(state.metadata or {}), **shown, SUSPENDED: True}
    marked = state.model_copy(update={"metadata": metadata, "title": title or state.title})
    return part.model_copy(update={"state": marked})


def begun(part: ToolPart) -> ToolPart:
    """Returns: the call as running from now on, so that it must never be run again."""
    state = _running(part)
    shown = {key: value for key, value in (state.metadata or {}).items() if key != SUSPENDED}
    started = {"metadata": shown or None, "time": PartTime(start=now_ms())}
    return part.model_copy(update={"state": state.model_copy(update=started)})


def may_begin(part: ToolPart) -> bool:
    """Whether a call has done nothing yet but ask."""
    return isinstance(part.state, ToolPending) or (is_suspended(part) and not child_of(part))


def child_of(part: ToolPart) -> str:
    """Returns: the session that works for a call; "" when it has none yet."""
    state = part.state
    if not isinstance(state, ToolRunning) or not is_suspended(part):
        return ""
    return str((state.metadata or {}).get(CHILD, ""))


def _running(part: ToolPart) -> ToolRunning:
    if isinstance(part.state, ToolRunning):
        return part.state
    return ToolRunning(input=part.state.input, time=PartTime(start=now_ms()))
