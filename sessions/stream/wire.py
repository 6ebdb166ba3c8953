"""Stored events and live messages to the events of OpenCode's streams.

Source: types and order of OpenCode's event streams.
"""

from __future__ import annotations

from collections.abc import Sequence

from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.reasons import english
from sessions.changes.turn_diffs import diffs_of
from sessions.events.reasons import read_cause
from sessions.present.data import object_of

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


def needs_session(record: JsonObject) -> bool:
    """Whether `to_wire_events` wants the session's row for this record."""
    return record["type"] in _WITH_SESSION


def needs_diffs(record: JsonObject) -> bool:
    """Whether `to_wire_events` wants the diffs of the newest turn for this record."""
    return record["type"] == "session.reverted"


def to_wire_events(
    session_id: str,
    record: JsonObject,
    info: JsonObject | None,
    diffs: Sequence[JsonObject] = (),
) -> list[WireEvent]:
    """Render a stored event (`events.live.to_record`), in the order in which clients expect it.

    `info` is the session's wire shape, wanted where `needs_session` says so, and `diffs` are those
    of the newest turn that is not rolled back, wanted where `needs_diffs` does.
    """
    kind, data = str(record["type"]), record["data"]
    assert isinstance(data, dict)
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


def _properties(kind: str, data: JsonObject, *, time: JsonValue) -> JsonObject:
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


def to_live_events(body: JsonObject, *, now_ms: int) -> list[WireEvent]:
    """Render a bus body that is not in the log.

    It is growing text, a running tool, files that one changed, a language server, a terminal, a
    project, a worktree, or a deleted session.
    """
    if body["t"] == "terminal":
        return [_terminal_event(body)]
    if body["t"] == "place":
        return [(str(body["type"]), object_of(body, "properties"))]
    return _session_live_events(body, now_ms=now_ms)


def _session_live_events(body: JsonObject, *, now_ms: int) -> list[WireEvent]:
    session_id = body["session"]
    match body["t"]:
        case "delta":
            delta: JsonObject = {
                "sessionID": session_id,
                "messageID": body["message"],
                "partID": body["part"],
                "field": body["field"],
                "delta": body["text"],
            }
            return [("message.part.delta", delta)]
        case "progress":
            part: JsonObject = {"sessionID": session_id, "part": body["part"], "time": now_ms}
            return [("message.part.updated", part)]
        case "edited" | "servers":
            return _worktree_events(body)
        case "command":
            executed: JsonObject = {
                "name": body["name"],
                "sessionID": session_id,
                "arguments": body["arguments"],
                "messageID": body["message"],
            }
            return [("command.executed", executed)]
        case "deleted":
            return [("session.deleted", {"sessionID": session_id, "info": body["info"]})]
    return []


def _terminal_event(body: JsonObject) -> WireEvent:
    kind, info = str(body["kind"]), object_of(body, "info")
    match kind:
        case "exited":
            # The wire knows no end without a code: -1 says that nobody saw it.
            code = -1 if body["code"] is None else body["code"]
            return ("pty.exited", {"id": info["id"], "exitCode": code})
        case "deleted":
            return ("pty.deleted", {"id": info["id"]})
    return (f"pty.{kind}", {"info": info})


def _worktree_events(body: JsonObject) -> list[WireEvent]:
    if body["t"] == "servers":
        return [("lsp.updated", {})]
    events: list[WireEvent] = []
    for file, kind in object_of(body, "files").items():
        events.append(("file.edited", {"file": file}))
        events.append(("file.watcher.updated", {"file": file, "event": kind}))
    return events


def stored_event_id(record: JsonObject, place: int) -> str:
    """The id of the `place`-th wire event of a stored one, the same whenever it is rendered."""
    at_ms, pk = record["time"], record["id"]
    assert isinstance(at_ms, int)
    assert isinstance(pk, int)
    return f"{new_id('evt', at_ms=at_ms)[:16]}{pk:012d}{place:02d}"


def envelope(
    event: WireEvent, *, id: str, directory: JsonValue = None, project: JsonValue = None
) -> JsonObject:
    """Returns: the frame of `/global/event`; without a directory for the server's own events."""
    frame: JsonObject = {"payload": plain(event, id=id)}
    return {"directory": directory, "project": project, **frame} if directory else frame


def native(event: WireEvent, *, id: str, directory: JsonValue = None) -> JsonObject:
    """Returns: the frame of `/api/event`; without a directory for the server's own events."""
    frame: JsonObject = {"id": id, "type": event[0], "data": event[1]}
    return {**frame, "location": {"directory": directory}} if directory else frame


def plain(event: WireEvent, *, id: str) -> JsonObject:
    """Returns: the frame of `/event`."""
    return {"id": id, "type": event[0], "properties": event[1]}
