"""Take well-known keys out of events, whoever they are of, before they are kept or go anywhere."""

from __future__ import annotations

from typing import TypeVar, cast

from opencode_web.lib.json import JsonObject
from sessions.events.parts import ReasoningPart, TextPart, ToolPart
from sessions.events.types import PartUpdated, SessionEvent
from sessions.hidden_keys import key_redactor, restore_files
from sessions.models import Project
from tools.redaction import Redactor

_Event = TypeVar("_Event", bound=SessionEvent)


def hide_in_event(project: Project, event: _Event) -> _Event:
    """Returns: the same event where there is nothing to hide. See `key_redactor`."""
    return cast(_Event, _hidden(event, event.to_json(), key_redactor(project))[0])


def hide_in_events(
    project: Project, events: list[tuple[SessionEvent, JsonObject]]
) -> list[tuple[SessionEvent, JsonObject]]:
    """As `hide_in_event`, for events with what is stored of them."""
    redactor = key_redactor(project)
    return [_hidden(event, data, redactor) for event, data in events] if redactor else events


def _hidden(
    event: SessionEvent, data: JsonObject, redactor: Redactor
) -> tuple[SessionEvent, JsonObject]:
    clean = redactor.json(data, keys=False)
    if clean is data:
        return event, data
    clean = cast(JsonObject, restore_files(data, clean))
    if isinstance(event, PartUpdated) and isinstance(
        event.part, TextPart | ReasoningPart | ToolPart
    ):
        # What a provider signed or sealed goes back to it byte by byte.
        clean["part"] = {**cast(JsonObject, clean["part"]), "metadata": event.part.metadata}
    return type(event).model_validate({**clean, "type": event.type}), clean
