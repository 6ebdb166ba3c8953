"""One prompt from its admission to its answer.

The prompt is admitted under an id of our own, so it can be sent again when nobody knows whether it
arrived. Events show what happens; that the turn is over is asked for, and what they have not
shown by then is read. So a turn survives a server that goes away in its middle.
"""

from __future__ import annotations

from typing import Any

from acp import RequestError

from opencode_web_cli.bridge.prompts import Command, build_parts, find_command
from opencode_web_cli.bridge.server import Json, Refused, new_message_id, note, session_path
from opencode_web_cli.bridge.sessions import OpenSession, Turn

# Below the time after which proxies cut a request without an answer.
_WAIT_S = 45
_ABORTED = "MessageAbortedError"


async def play(session: OpenSession, blocks: list[Any]) -> Json:
    """Returns: the answer of `session/prompt`. Raises: RequestError, Refused, Lost."""
    parts = await build_parts(session.server, session.paths, blocks)
    command = find_command(parts)
    if command is not None and command.name == "compact":
        return await _compact(session)
    if command is not None and not _is_known(session, command):
        note(f"There is no command /{command.name}.")
        return {"stopReason": "end_turn"}
    turn = Turn(new_message_id())
    session.turns.add(turn)
    session.transcript.own.add(turn.message_id)
    session.last_error = None
    try:
        if command is not None:
            await _run(session, turn, command, parts)
        else:
            body = {"messageID": turn.message_id, "parts": parts, **session.chosen.for_prompt()}
            path = session_path(session.id, "/prompt_async")
            await session.server.insist("POST", path, body=body)
        if turn.is_cancelled:
            await stop(session)
        await settle(session)
        rows = await session.catch_up()
        answer = _answer_of(rows, turn.message_id)
        await _tell_usage(session, answer)
        return _outcome(session, turn, answer)
    finally:
        session.turns.discard(turn)


def _is_known(session: OpenSession, command: Command) -> bool:
    return any(one["name"] == command.name for one in session.chosen.choices.commands)


async def _run(session: OpenSession, turn: Turn, command: Command, parts: list[Json]) -> None:
    chosen = session.chosen.for_prompt()
    if model := chosen.pop("model", None):
        chosen["model"] = f"{model['providerID']}/{model['modelID']}"
    body = {
        "messageID": turn.message_id,
        "command": command.name,
        "arguments": command.arguments,
        "parts": [part for part in parts if part["type"] == "file"],
        **chosen,
    }
    try:
        path = session_path(session.id, "/command")
        await session.server.insist("POST", path, body=body, waits=True, timeout=_WAIT_S)
    except Refused as exc:
        # It was stopped, or failed, before the agent said anything: the history has more of it.
        if exc.status != 409:
            raise


async def _compact(session: OpenSession) -> Json:
    turn = Turn()
    session.turns.add(turn)
    try:
        await session.call("POST", "/compact")
        await settle(session)
        rows = await session.catch_up()
        await _tell_usage(session, rows[-1]["info"] if rows else None)
    finally:
        session.turns.discard(turn)
    return {"stopReason": "cancelled" if turn.is_cancelled else "end_turn"}


async def settle(session: OpenSession) -> None:
    """Return when the session is idle. Raises: Refused."""
    path = f"/api{session_path(session.id, '/wait')}"
    await session.server.insist("POST", path, waits=True, timeout=_WAIT_S)


async def stop(session: OpenSession) -> None:
    """Stop what the session does. Raises: Refused."""
    for turn in session.turns:
        turn.is_cancelled = True
    await session.server.insist("POST", session_path(session.id, "/abort"))


def _answer_of(rows: list[Json], message_id: str) -> Json | None:
    """Returns: the last message of the agent after a prompt."""
    infos = [row["info"] for row in rows]
    start = next((i for i, info in enumerate(infos) if info["id"] == message_id), None)
    if start is None:
        return None
    answers = [info for info in infos[start:] if info["role"] == "assistant"]
    return answers[-1] if answers else None


async def _tell_usage(session: OpenSession, answer: Json | None) -> None:
    info = await session.server.insist("GET", session_path(session.id))
    tokens = (answer or {}).get("tokens") or {}
    cache = tokens.get("cache") or {}
    named = f"{(answer or {}).get('providerID')}/{(answer or {}).get('modelID')}"
    models = session.chosen.choices.models
    model = models.get(named) or models.get(session.chosen.model)
    update = {
        "sessionUpdate": "usage_update",
        "used": tokens.get("input", 0) + cache.get("read", 0) + cache.get("write", 0),
        "size": model.context if model else 0,
        "cost": {"amount": info.get("cost", 0), "currency": "USD"},
    }
    async with session.lock:
        await session.emit(update)


def _outcome(session: OpenSession, turn: Turn, answer: Json | None) -> Json:
    error = answer.get("error") if answer is not None else session.last_error
    name = str((error or {}).get("name", ""))
    usage = {"usage": _usage_of(answer or {})}
    if turn.is_cancelled or name == _ABORTED:
        return {"stopReason": "cancelled", **usage}
    if name == "ContentFilterError" or (answer or {}).get("finish") == "content-filter":
        return {"stopReason": "refusal", **usage}
    if name == "MessageOutputLengthError":
        return {"stopReason": "max_tokens", **usage}
    if error is not None:
        text = str(error.get("data", {}).get("message") or name)
        raise RequestError(
            -32603, f"Internal error: {text}", {"service": "session", "errorName": name}
        )
    return {"stopReason": "end_turn", **usage}


def _usage_of(answer: Json) -> Json:
    tokens = answer.get("tokens") or {}
    cache = tokens.get("cache") or {}
    known = {
        "inputTokens": tokens.get("input", 0),
        "outputTokens": tokens.get("output", 0),
        "thoughtTokens": tokens.get("reasoning", 0),
        "cachedReadTokens": cache.get("read", 0),
        "cachedWriteTokens": cache.get("write", 0),
    }
    always = ("inputTokens", "outputTokens")
    usage = {key: count for key, count in known.items() if count or key in always}
    return {**usage, "totalTokens": sum(known.values())}
