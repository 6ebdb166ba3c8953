"""The log of one session as the durable events of the second version of OpenCode's API.

Each stored event has one form there or none, under its own sequence number: so a client can go on
after any of them. Source: types of OpenCode's `session.next` events.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError
from opencode_web.lib.json import JsonObject, JsonValue, list_of, object_of, text_of
from opencode_web.lib.shapes import as_json
from opencode_web.lib.sse import frame
from sessions.access import access_session
from sessions.events.bodies import Record
from sessions.events.live import session_group, to_record
from sessions.events.replay import events_after
from sessions.models import Event
from sessions.stream.hub import Overflow, Subscription
from sessions.stream.references import References, read_references
from sessions.stream.reverted import revert_to_v2
from sessions.stream.rights import watch_rights
from sessions.wire import prompt_to_wire
from sessions.wire_events import stored_event_id
from teams.access import access_group
from teams.auth import Principal, is_live

VERSION = 1
# The rows are looked at this often even when the bus says nothing.
LOOK_S = 10.0
_PAGE = 200
_Form = tuple[str, JsonObject]


async def durable_stream(
    principal: Principal, session_id: str, *, after: int
) -> AsyncIterator[bytes]:
    """Yield what is in the log after a sequence number, then what comes.

    It ends when the session is gone, the person loses the right, or the client is too slow.
    """
    team_id = (await in_db(access_session, principal, session_id)).project.team_id
    groups = (session_group(session_id), access_group(team_id))
    async with watch_rights(principal, *groups) as bodies:
        # So that proxies pass the answer's head on.
        yield b": open\n\n"
        while await in_db(_may_see, principal, session_id):
            rows = await in_db(events_after, session_id, after, limit=_PAGE)
            if rows:
                after = rows[-1].seq
                for event in await in_db(durable_events, session_id, rows):
                    yield frame(event, id=str(object_of(event, "durable")["seq"]))
            if len(rows) < _PAGE:
                try:
                    await _next(bodies)
                except Overflow:
                    return


async def _next(bodies: Subscription) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(LOOK_S):
            await bodies.take()


def _may_see(principal: Principal, session_id: str) -> bool:
    if not is_live(principal):
        return False
    try:
        access_session(principal, session_id)
    except AppError:
        return False
    return True


def durable_events(session_id: str, rows: Sequence[Event]) -> list[JsonObject]:
    """Returns: those of the stored events that have a form, in their order. A query or two."""
    records = [to_record(row) for row in rows]
    references = read_references(session_id, records)
    events = (to_durable(session_id, record, references) for record in records)
    return [event for event in events if event is not None]


def to_durable(session_id: str, record: Record, references: References) -> JsonObject | None:
    """Returns: a stored event (`events.live.to_record`) there; None when it has no form, or what it
    refers to (`references.read_references`) is gone."""
    form = _form(record["type"], record["data"], references)
    if form is None:
        return None
    kind, fields = form
    if kind.endswith(".switched"):
        # There it becomes a message of its own, so it has the id of one, the same each time.
        fields["messageID"] = stored_event_id(record, 0).replace("evt", "msg", 1)
    return {
        "id": stored_event_id(record, 0),
        "type": f"session.next.{kind}",
        "durable": position_of(session_id, record),
        "data": {"timestamp": record["time"], "sessionID": session_id, **fields},
    }


def position_of(session_id: str, record: Record) -> JsonObject:
    """Returns: where a stored event is in the log, for clients that go on from there."""
    return {"aggregateID": session_id, "seq": record["seq"], "version": VERSION}


def _form(kind: str, data: JsonObject, references: References) -> _Form | None:
    match kind:
        case "message.updated":
            return _of_message(object_of(data, "info"))
        case "part.updated":
            return _of_part(object_of(data, "part"))
        case "session.updated":
            return _of_choice(data)
    return _of_inbox_or_history(kind, data, references)


def _of_choice(data: JsonObject) -> _Form | None:
    if data.get("agent"):
        return "agent.switched", {"agent": data["agent"]}
    return ("model.switched", {"model": data["model"]}) if data.get("model") else None


def _of_inbox_or_history(kind: str, data: JsonObject, references: References) -> _Form | None:
    match kind:
        case "input.admitted":
            parts = [part for part in list_of(data, "parts") if isinstance(part, dict)]
            prompt = as_json(prompt_to_wire(parts))
            message = object_of(data, "info")["id"]
            address: JsonObject = {"messageID": message, "delivery": data["delivery"]}
            return "prompt.admitted", {**address, "prompt": prompt}
        case "input.promoted":
            return _referring("prompted", text_of(data, "id"), references)
        case "session.reverted":
            revert = object_of(data, "revert")
            staged: JsonObject = {"revert": as_json(revert_to_v2(revert))}
            return ("revert.staged", staged) if revert else ("revert.cleared", {})
        case "session.compacted":
            return _referring("compaction.ended", text_of(data, "summary_id"), references)
    return None


def _referring(kind: str, message_id: str, references: References) -> _Form | None:
    told = references.get(message_id)
    return (kind, {"messageID": message_id, **told}) if told is not None else None


def _of_message(info: JsonObject) -> _Form | None:
    if info["role"] != "assistant":
        return None
    address: JsonObject = {"assistantMessageID": info["id"]}
    if "completed" not in object_of(info, "time"):
        if "finish" in info:
            return None  # it is told once, with its end
        model = {"id": info["modelID"], "providerID": info["providerID"]}
        return "step.started", {**address, "agent": info["agent"], "model": model}
    if "error" in info:
        message = text_of(object_of(object_of(info, "error"), "data"), "message")
        return "step.failed", {**address, "error": {"type": "unknown", "message": message}}
    used = {key: info[key] for key in ("cost", "tokens") if key in info}
    return "step.ended", {**address, "finish": info.get("finish", "stop"), **used}


def _of_part(part: JsonObject) -> _Form | None:
    address: JsonObject = {"assistantMessageID": part["messageID"]}
    match part["type"]:
        case "text" | "reasoning" as kind if "time" in part:
            own: JsonObject = {**address, f"{kind}ID": part["id"]}
            if "end" in object_of(part, "time"):
                return f"{kind}.ended", {**own, "text": part["text"]}
            return (f"{kind}.started", own) if not part["text"] else None
        case "compaction":
            reason = "auto" if part["auto"] else "manual"
            return "compaction.started", {"messageID": part["messageID"], "reason": reason}
        case "retry":
            message = text_of(object_of(object_of(part, "error"), "data"), "message")
            error: JsonObject = {"message": message, "isRetryable": True}
            return "retried", {"attempt": part["attempt"], "error": error}
        case "tool":
            state = object_of(part, "state")
            return _of_call({**address, "callID": part["callID"]}, text_of(part, "tool"), state)
    return None


def _of_call(call: JsonObject, tool: str, state: JsonObject) -> _Form | None:
    provider: JsonObject = {"executed": False}
    match state["status"]:
        case "pending" if not state.get("input"):
            return "tool.input.started", {**call, "name": tool}
        case "pending":
            return "tool.input.ended", {**call, "text": state.get("raw", "")}
        case "running" if "metadata" not in state:
            return "tool.called", {
                **call,
                "tool": tool,
                "input": state["input"],
                "provider": provider,
            }
        case "completed":
            content: list[JsonValue] = [{"type": "text", "text": state["output"]}]
            result: JsonObject = {"structured": state["metadata"], "content": content}
            return "tool.success", {**call, **result, "provider": provider}
        case "error":
            error: JsonObject = {"type": "unknown", "message": state["error"]}
            return "tool.failed", {**call, "error": error, "provider": provider}
    return None
