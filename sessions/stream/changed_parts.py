"""Which fragments of a session page a run of stored events changes. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from opencode_web.lib.json import object_of, text_of
from sessions.events.bodies import Record


@dataclass
class Touched:
    """Fragments that have to be rendered again, from the rows as they are now."""

    # Messages by the sequence number of their first event in the run.
    messages: dict[str, int] = field(default_factory=dict)
    parts: set[str] = field(default_factory=set)
    # Messages that have lost a part, or whose files are shown otherwise.
    shortened: set[str] = field(default_factory=set)
    # Requests that were asked or answered: the rows of their calls change.
    requests: set[str] = field(default_factory=set)
    # Somebody's prompt came in or was changed.
    prompted: bool = False
    header: bool = False
    agent: bool = False
    permissions: bool = False
    queue: bool = False
    todos: bool = False
    changes: bool = False
    status: bool = False
    # Something went out of the log or came back into it.
    history: bool = False
    ended_parts: set[str] = field(default_factory=set)


def touched_by(records: Iterable[Record]) -> Touched:
    """`records` as `events.live.to_record` makes them, in order."""
    touched = Touched()
    for record in records:
        _add(touched, record)
    return touched


def _add(touched: Touched, record: Record) -> None:
    data, kind = record["data"], record["type"]
    # What was put back of single files is final with the next prompt.
    touched.changes |= kind in {"file.reverted", "input.promoted"}
    match kind.partition(".")[0]:
        case "session":
            touched.header = True
            touched.status |= kind == "session.status"
            touched.changes |= "summary" in data
            touched.agent |= kind == "session.updated" and "agent" in data
            touched.history |= kind == "session.reverted"
        case "input" | "inputs":
            touched.queue = True
            # Until then it waits for a worker.
            touched.header |= kind == "input.promoted"
        case "message" if kind == "message.removed":
            touched.history = True
        case "message":
            info = object_of(data, "info")
            message_id = text_of(info, "id")
            # A part of it may have come before: then it stands there as unchanged.
            if not touched.messages.get(message_id):
                touched.messages[message_id] = record["seq"]
            # While a summary is written, the status says so.
            touched.header |= "summary" in info
            if info.get("role") == "user":
                touched.prompted = True
                touched.changes |= "summary" in info
        case "part" | "file" if kind in {"part.removed", "file.refused"}:
            message_id = text_of(data, "message_id")
            touched.shortened.add(message_id)
            touched.messages.setdefault(message_id, 0)
        case "part":
            part = object_of(data, "part")
            touched.parts.add(text_of(part, "id"))
            # 0: the message itself is not changed, only one of its parts.
            touched.messages.setdefault(text_of(part, "messageID"), 0)
            if "end" in object_of(part, "time"):
                touched.ended_parts.add(text_of(part, "id"))
        case "todo":
            touched.todos = True
        case "permission" | "question":
            touched.permissions = True
            touched.requests.add(text_of(data, "id"))
