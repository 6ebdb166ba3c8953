"""Stored events and live messages to the events of OpenCode's streams.

Source: types and order of OpenCode's event streams.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject, object_of
from opencode_web.lib.reasons import english
from sessions.changes.turn_diffs import diffs_of
from sessions.events.bodies import EditedBody, LiveBody, Record, TerminalBody
from sessions.events.reasons import read_cause

# A type and its properties.
WireEvent = tuple[str, JsonObject]

# Stored events whose wire form carries the whole session as it is now.
_WITH_SESSION = frozenset(
    {"session.created", "session.updated", "session.used", "session.status", "session.reverted"}
)
# The inbox is ours: these clients learn of a prompt when it becomes a message. What the model is
# told beside the conversation is nobody else's.
_SILENT = frozenset(
    {
        *("input.admitted", "input.promoted", "input.changed", "inputs.reordered"),
        *("input.cancelled", "context.started", "context.updated", "context.ended"),
        *("file.reverted", "file.refused"),
    }
)


def needs_session(record: Record) -> bool:
    """Whether `to_wire_events` wants the session's row for this record."""
    return record["type"] in _WITH_SESSION


def needs_diffs(record: Record) -> bool:
    """Whether `to_wire_events` wants the diffs of the newest turn for this record."""
    return record["type"] == "session.reverted"


def to_wire_events(
    session_id: str,
    record: Record,
    info: JsonObject | None,
    diffs: Sequence[JsonObject] = (),
) -> list[WireEvent]:
    """Render a stored event (`events.live.to_record`), in the order in which clients expect it.

    `info` is the session's wire shape, wanted where `needs_session` says so, and `diffs` are those
    of the newest turn that is not rolled back, wanted where `needs_diffs` does.
    """
    kind, data = record["type"], record["data"]
    if kind in _SILENT:
        return []
    if kind in _WITH_SESSION:
        events = _session_events(kind, session_id, data, info or {})
        return [_diff(session_id, diffs), *events] if needs_diffs(record) else events
    if kind.startswith("part."):
        kind = f"message.{kind}"
    if kind == "question.replied" and data["reply"] != "answered":
        kind = "question.rejected"
    properties = _properties(kind, data, time=record["time"])
    event: WireEvent = (kind, {"sessionID": session_id, **properties})
    shown = object_of(data, "info")
    if kind == "message.updated" and shown.get("role") == "user" and "summary" in shown:
        return [_diff(session_id, diffs_of(shown)), event]
    return [event]


def _diff(session_id: str, diffs: Sequence[JsonObject]) -> WireEvent:
    return ("session.diff", {"sessionID": session_id, "diff": list(diffs)})


def _properties(kind: str, data: JsonObject, *, time: int) -> JsonObject:
    match kind:
        case "message.updated":
            return {"info": data["info"]}
        case "message.part.updated":
            return {"part": data["part"], "time": time}
        case "message.removed" | "message.part.removed":
            part: JsonObject = {"partID": data["part_id"]} if "part_id" in data else {}
            return {"messageID": data["message_id"], **part}
        case "session.error":
            return {"error": data["error"]}
        case "session.compacted":
            return {}
    return _request_properties(kind, data)


def _request_properties(kind: str, data: JsonObject) -> JsonObject:
    match kind:
        case "permission.asked":
            asked = _asked(data, "id", "permission", "patterns", "always")
            metadata = dict(object_of(data, "metadata"))
            if "until" in data:
                metadata["until"] = data["until"]
            return {**asked, "metadata": metadata}
        case "permission.replied":
            # The wire knows no cancelled or expired request: it was not allowed.
            reply = data["reply"] if data["reply"] in ("once", "always") else "reject"
            return {"requestID": data["id"], "reply": reply}
        case "todo.updated":
            return {"todos": data["todos"]}
        case "question.asked":
            return _asked(data, "id", "questions")
        case "question.replied":
            return {"requestID": data["id"], "answers": data["answers"]}
        case "question.rejected":
            return {"requestID": data["id"]}
    raise ValueError(f"no wire form for {kind}")


def _asked(data: JsonObject, *fields: str) -> JsonObject:
    tool: JsonObject = {"messageID": data["message_id"], "callID": data["call_id"]}
    return {**{key: data[key] for key in fields}, "tool": tool}


def _session_events(
    kind: str, session_id: str, data: JsonObject, info: JsonObject
) -> list[WireEvent]:
    updated: WireEvent = ("session.updated", {"sessionID": session_id, "info": info})
    if kind == "session.created":
        return [("session.created", updated[1]), updated]
    if kind != "session.status":
        return [updated]
    status: WireEvent = ("session.status", {"sessionID": session_id, "status": _status(data)})
    if data["state"] != "idle":
        return [status]
    return [status, ("session.idle", {"sessionID": session_id}), updated]


def _status(data: JsonObject) -> JsonObject:
    if data.get("waits_for") in ("retry", "funds", "room"):
        said = english(read_cause(data) or str(data["detail"]))
        fields: JsonObject = {"message": said, "next": data.get("until", 0)}
        return {"type": "retry", "attempt": data.get("attempt", 1), **fields}
    # Waiting for a person is busy to these clients: the turn is not over.
    return {"type": "idle" if data["state"] == "idle" else "busy"}


def to_live_events(body: LiveBody, *, now_ms: int) -> list[WireEvent]:
    """Render a bus body that is not in the log."""
    event: WireEvent
    match body["t"]:
        case "terminal":
            event = _terminal_event(body)
        case "place":
            event = body["type"], body["properties"]
        case "delta":
            event = (
                "message.part.delta",
                {
                    "sessionID": body["session"],
                    "messageID": body["message"],
                    "partID": body["part"],
                    "field": body["field"],
                    "delta": body["text"],
                },
            )
        case "progress":
            part = cast(JsonObject, body["part"])  # a typed dict is JSON, too
            event = (
                "message.part.updated",
                {"sessionID": body["session"], "part": part, "time": now_ms},
            )
        case "servers":
            event = "lsp.updated", {}
        case "command":
            event = (
                "command.executed",
                {
                    "name": body["name"],
                    "sessionID": body["session"],
                    "arguments": body["arguments"],
                    "messageID": body["message"],
                },
            )
        case "deleted":
            event = "session.deleted", {"sessionID": body["session"], "info": body["info"]}
        case "edited":
            return _file_events(body)
        case "estimate":
            return []
    return [event]


def _terminal_event(body: TerminalBody) -> WireEvent:
    kind, info = body["kind"], body["info"]
    match kind:
        case "exited":
            # The wire knows no end without a code: -1 says that nobody saw it.
            code = -1 if body["code"] is None else body["code"]
            return ("pty.exited", {"id": info["id"], "exitCode": code})
        case "deleted":
            return ("pty.deleted", {"id": info["id"]})
    return (f"pty.{kind}", {"info": info})


def _file_events(body: EditedBody) -> list[WireEvent]:
    events: list[WireEvent] = []
    for file, kind in body["files"].items():
        events.append(("file.edited", {"file": file}))
        events.append(("file.watcher.updated", {"file": file, "event": kind}))
    return events


def stored_event_id(record: Record, place: int) -> str:
    """The id of the `place`-th wire event of a stored one, the same whenever it is rendered."""
    return f"{new_id('evt', at_ms=record['time'])[:16]}{record['id']:012d}{place:02d}"


def envelope(
    event: WireEvent, *, id: str, directory: str | None = None, project: str | None = None
) -> JsonObject:
    """Returns: the frame of `/global/event`; without a directory for the server's own events."""
    frame: JsonObject = {"payload": plain(event, id=id)}
    return {"directory": directory, "project": project, **frame} if directory else frame


def native(event: WireEvent, *, id: str, directory: str | None = None) -> JsonObject:
    """Returns: the frame of `/api/event`; without a directory for the server's own events."""
    frame: JsonObject = {"id": id, "type": event[0], "data": event[1]}
    return {**frame, "location": {"directory": directory}} if directory else frame


def plain(event: WireEvent, *, id: str) -> JsonObject:
    """Returns: the frame of `/event`."""
    return {"id": id, "type": event[0], "properties": event[1]}
