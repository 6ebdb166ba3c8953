"""Take well-known keys out of events, whoever they are of, before they are kept or go anywhere.

What people write loses the secrets of the project and its team as well. What models write and tools
print has lost them before it becomes an event.
"""

from __future__ import annotations

from typing import TypeVar, cast

from opencode_web.lib.json import JsonObject, JsonValue
from sessions.events.parts import ReasoningPart, TextPart, ToolPart
from sessions.events.types import PartUpdated, SessionEvent
from sessions.models import Project
from sessions.secrets import key_redactor, project_redactor
from tools.redaction import Redactor

_Event = TypeVar("_Event", bound=SessionEvent)


def hide_in_event(project: Project, event: _Event) -> _Event:
    """For what people write. Returns: the same event where there is nothing to hide."""
    redactor = project_redactor(project.pk, written=True)
    return cast(_Event, _hidden(event, event.to_json(), redactor)[0])


def hide_in_events(
    project: Project, events: list[tuple[SessionEvent, JsonObject]]
) -> list[tuple[SessionEvent, JsonObject]]:
    """As `hide_in_event`, for events of anybody with what is stored of them: well-known keys."""
    redactor = key_redactor(project)
    return [_hidden(event, data, redactor) for event, data in events] if redactor else events


def _hidden(
    event: SessionEvent, data: JsonObject, redactor: Redactor
) -> tuple[SessionEvent, JsonObject]:
    clean = redactor.json(data, keys=False)
    if clean is data:
        return event, data
    clean = cast(JsonObject, _with_files(data, clean))
    if isinstance(event, PartUpdated) and isinstance(
        event.part, TextPart | ReasoningPart | ToolPart
    ):
        # What a provider signed or sealed goes back to it byte by byte.
        clean["part"] = {**cast(JsonObject, clean["part"]), "metadata": event.part.metadata}
    return type(event).model_validate({**clean, "type": event.type}), clean


def _with_files(old: JsonValue, new: JsonValue) -> JsonValue:
    """Returns: `new` with the contents of files as they are in `old`: they are no text, and what
    looks like a key in them is chance."""
    match old, new:
        case str(), _ if old.startswith("data:") and ";base64," in old[:200]:
            return old
        case list(), list():
            return [_with_files(*pair) for pair in zip(old, new, strict=True)]
        case dict(), dict():
            return {key: _with_files(old[key], item) for key, item in new.items()}
        case _:
            return new
