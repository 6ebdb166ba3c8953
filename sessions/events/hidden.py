"""Take well-known keys out of events, whoever they are of, before they are kept or go anywhere.

What people write loses the secrets of the project and its team as well. What models write and tools
print has lost them before it becomes an event.
"""

from __future__ import annotations

import base64
import binascii
from typing import TypeVar, cast

from opencode_web.lib.json import JsonObject, JsonValue
from sessions.events.parts import ReasoningPart, TextPart, ToolPart
from sessions.events.types import PartUpdated, SessionEvent
from sessions.models import Project
from sessions.secrets import key_redactor, project_redactor
from tools.files.file_kind import attachment_mime
from tools.redaction import Redactor

_Event = TypeVar("_Event", bound=SessionEvent)


def hide_in_event(project: Project, event: _Event) -> _Event:
    """For what people write, and the text files that they attach.

    Returns: the same event where there is nothing to hide.
    """
    redactor = project_redactor(project.pk, written=True)
    return cast(_Event, _hidden(event, event.to_json(), redactor, looks_into_files=True)[0])


def hide_in_events(
    project: Project, events: list[tuple[SessionEvent, JsonObject]]
) -> list[tuple[SessionEvent, JsonObject]]:
    """As `hide_in_event`, for events of anybody with what is stored of them: well-known keys."""
    redactor = key_redactor(project)
    return [_hidden(event, data, redactor) for event, data in events] if redactor else events


def _hidden(
    event: SessionEvent, data: JsonObject, redactor: Redactor, *, looks_into_files: bool = False
) -> tuple[SessionEvent, JsonObject]:
    clean = redactor.json(data, keys=False)
    if clean is data and not (redactor and looks_into_files):
        return event, data
    clean = cast(JsonObject, _with_files(data, clean, redactor))
    if clean == data:
        return event, data
    if isinstance(event, PartUpdated) and isinstance(
        event.part, TextPart | ReasoningPart | ToolPart
    ):
        # What a provider signed or sealed goes back to it byte by byte.
        clean["part"] = {**cast(JsonObject, clean["part"]), "metadata": event.part.metadata}
    return type(event).model_validate({**clean, "type": event.type}), clean


def _with_files(old: JsonValue, new: JsonValue, redactor: Redactor) -> JsonValue:
    """Returns: `new` with files as they are in `old`, but for what is to be hidden in text: in
    others, and in their base64, what looks like a key is chance."""
    match old, new:
        case str(), str() if old.startswith("data:") and _head(old).endswith(";base64"):
            return _clean_file(old, new, redactor)
        case list(), list():
            return [_with_files(*pair, redactor) for pair in zip(old, new, strict=True)]
        case dict(), dict():
            return {key: _with_files(old[key], item, redactor) for key, item in new.items()}
        case _:
            return new


def _head(url: str) -> str:
    return url[: url.find(",")]


def _clean_file(old: str, new: str, redactor: Redactor) -> str:
    """`new` counts for what only looks like a file."""
    head = _head(old)
    body = old[len(head) + 1 :]
    try:
        if attachment_mime(base64.b64decode(body[:24])):
            return old
        raw = base64.b64decode(body, validate=True)
        raw.decode()
    except binascii.Error:
        return new
    except UnicodeDecodeError:
        return old
    clean = redactor.data(raw)
    return old if clean is raw else f"{head},{base64.b64encode(clean).decode()}"
