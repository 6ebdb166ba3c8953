"""Rows to the shapes of the second version of OpenCode's HTTP API."""

from __future__ import annotations

from collections.abc import Set

from opencode_web.lib.json import JsonObject, JsonValue, list_of, object_of, text_of
from opencode_web.lib.shapes import drop_none
from sessions.api.v2.session_answers import PermissionV2, QuestionV2, SessionTimeV2, SessionV2
from sessions.models import PermissionRequest, QuestionRequest, Session
from sessions.stream.reverted import revert_to_v2
from sessions.wire import MessageWire, question_to_wire, session_to_wire, with_deadline


def session_to_v2(session: Session) -> SessionV2:
    """Returns: `SessionV2Info`."""
    wire = session_to_wire(session)
    times: SessionTimeV2 = {
        "created": wire["time"]["created"],
        "updated": wire["time"]["updated"],
        "archived": wire["time"].get("archived"),
    }
    shown: SessionV2 = {
        "id": session.pk,
        "parentID": wire.get("parentID"),
        "projectID": wire["projectID"],
        "agent": wire.get("agent"),
        "model": wire.get("model"),
        "cost": wire["cost"],
        "tokens": wire["tokens"],
        "title": wire["title"],
        "revert": revert_to_v2(session.revert) if session.revert else None,
        "time": drop_none(times),
        "location": {"directory": session.directory},
        "subpath": session.path or None,
    }
    return drop_none(shown)


def permission_to_v2(request: PermissionRequest) -> PermissionV2:
    """Returns: `PermissionV2Request`."""
    return {
        "id": request.pk,
        "sessionID": request.session_id,
        "action": request.permission,
        "resources": request.patterns,
        "save": request.always,
        "metadata": with_deadline(request.metadata, request.expires_at),
        "source": {"type": "tool", "messageID": request.message_id, "callID": request.call_id},
    }


def question_to_v2(request: QuestionRequest) -> QuestionV2:
    """Returns: `QuestionV2Request`."""
    return question_to_wire(request)


def message_to_v2(wire: MessageWire, autos: Set[str] = frozenset()) -> JsonObject | None:
    """Convert a message of the first version, `{info, parts}`.

    `autos` are the ids of the messages with which the server itself asked for a summary.

    Returns: `SessionMessage`; None for one that asks for a summary: the summary stands for both.
    """
    info, parts = wire["info"], wire["parts"]
    if info["role"] == "assistant":
        return _summary(info, parts, autos) if info.get("summary") is True else _answer(info, parts)
    if any(part["type"] == "compaction" for part in parts):
        return None
    return _prompt(info, parts)


def _head(info: JsonObject, kind: str) -> JsonObject:
    return {"id": info["id"], "type": kind, "time": info["time"]}


def _prompt(info: JsonObject, parts: list[JsonObject]) -> JsonObject:
    texts = [
        text_of(part, "text")
        for part in parts
        if part["type"] == "text" and part.get("synthetic") is not True
    ]
    message: JsonObject = {**_head(info, "user"), "text": "\n\n".join(texts)}
    files: list[JsonValue] = [_file(part) for part in parts if part["type"] == "file"]
    agents: list[JsonValue] = [{"name": part["name"]} for part in parts if part["type"] == "agent"]
    if files:
        message["files"] = files
    if agents:
        message["agents"] = agents
    return message


def _file(part: JsonObject) -> JsonObject:
    name: JsonObject = {"name": part["filename"]} if part.get("filename") else {}
    return {"uri": part["url"], "mime": part["mime"], **name}


def _summary(info: JsonObject, parts: list[JsonObject], autos: Set[str]) -> JsonObject:
    texts = [text_of(part, "text") for part in parts if part["type"] == "text"]
    return {
        **_head(info, "compaction"),
        "reason": "auto" if info["parentID"] in autos else "manual",
        "summary": "\n\n".join(texts),
        "recent": "",
    }


def _answer(info: JsonObject, parts: list[JsonObject]) -> JsonObject:
    content: list[JsonValue] = [piece for part in parts if (piece := _content(part)) is not None]
    model: JsonObject = {"id": info["modelID"], "providerID": info["providerID"]}
    if "variant" in info:
        model["variant"] = info["variant"]
    message: JsonObject = {
        **_head(info, "assistant"),
        "agent": info["agent"],
        "model": model,
        "content": content,
    }
    for key in ("finish", "cost", "tokens"):
        if key in info:
            message[key] = info[key]
    if "error" in info:
        message["error"] = _error(text_of(object_of(object_of(info, "error"), "data"), "message"))
    snapshot = _snapshot(parts)
    return {**message, "snapshot": snapshot} if snapshot else message


def _error(message: str) -> JsonObject:
    return {"type": "unknown", "message": message}


def _snapshot(parts: list[JsonObject]) -> JsonObject:
    found: JsonObject = {}
    for part in parts:
        if part["type"] == "step-start" and part.get("snapshot"):
            found.setdefault("start", part["snapshot"])
        if part["type"] == "step-finish" and part.get("snapshot"):
            found["end"] = part["snapshot"]
        if part["type"] == "patch":
            found["files"] = part["files"]
    return found


def _content(part: JsonObject) -> JsonObject | None:
    match part["type"]:
        case "text":
            return {"type": "text", "id": part["id"], "text": part["text"]}
        case "reasoning":
            return {
                "type": "reasoning",
                "id": part["id"],
                "text": part["text"],
                "time": _span(object_of(part, "time")),
            }
        case "tool":
            return _call(part)
    return None


def _span(time: JsonObject) -> JsonObject:
    ended: JsonObject = {"completed": time["end"]} if "end" in time else {}
    return {"created": time.get("start", 0), **ended}


def _call(part: JsonObject) -> JsonObject:
    state = object_of(part, "state")
    time = object_of(state, "time")
    moments: JsonObject = {"created": time.get("start", 0)}
    if "start" in time:
        moments["ran"] = time["start"]
    if "end" in time:
        moments["completed"] = time["end"]
    if "compacted" in time:
        moments["pruned"] = time["compacted"]
    return {
        "type": "tool",
        "id": part["callID"],
        "name": part["tool"],
        "state": call_state(state),
        "time": moments,
    }


def call_state(state: JsonObject) -> JsonObject:
    """Returns: `SessionMessageToolState…` of a state of the first version."""
    given = object_of(state, "input")
    structured = object_of(state, "metadata")
    match state["status"]:
        case "pending":
            return {"status": "pending", "input": state.get("raw", "")}
        case "running":
            return {"status": "running", "input": given, "structured": structured, "content": []}
        case "completed":
            done: JsonObject = {
                "status": "completed",
                "input": given,
                "content": text_content(text_of(state, "output")),
                "structured": structured,
            }
            files = [file for file in list_of(state, "attachments") if isinstance(file, dict)]
            return {**done, "attachments": [_file(file) for file in files]} if files else done
    return {
        "status": "error",
        "input": given,
        "content": [],
        "structured": structured,
        "error": _error(text_of(state, "error")),
    }


def text_content(text: str) -> list[JsonValue]:
    """Returns: the content of a call that said this."""
    return [{"type": "text", "text": text}] if text else []
