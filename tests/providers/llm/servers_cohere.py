"""A Cohere that refuses what Cohere refuses, with its own words."""

from __future__ import annotations

import json
from typing import Any

import httpx

from tests.providers.llm.talk import sse

_FIELDS = {
    "model",
    "messages",
    "tools",
    "tool_choice",
    "stream",
    "max_tokens",
    "temperature",
    "p",
    "k",
    "seed",
    "thinking",
    "safety_mode",
    "priority",
}
_MESSAGES = {
    "system": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_calls", "tool_plan"},
    "tool": {"role", "content", "tool_call_id"},
}


class CohereServer(httpx.MockTransport):
    def __init__(self, *answers: Any) -> None:
        super().__init__(self._answer)
        self.answers = list(answers)
        self.bodies: list[Any] = []
        self.requests: list[httpx.Request] = []

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        body = json.loads(request.content)
        self.bodies.append(body)
        if request.headers.get("authorization") != "Bearer key-of-tests":
            return httpx.Response(401, json={"id": "x", "message": "invalid api token"})
        if wrong := _wrong(body):
            return httpx.Response(400, json={"id": "x", "message": f"invalid request: {wrong}"})
        answer = self.answers.pop(0)
        return answer if isinstance(answer, httpx.Response) else sse(*answer)


def _wrong(body: Any) -> str:
    unknown = set(body) - _FIELDS
    if unknown:
        return f"unknown field: {sorted(unknown)[0]}"
    if body.get("tool_choice") not in {None, "REQUIRED", "NONE"}:
        return "tool_choice must be one of REQUIRED, NONE"
    if set(body.get("thinking", {})) - {"type", "token_budget"}:
        return "unknown field in thinking"
    waiting: set[str] = set()
    for message in body["messages"]:
        role = message["role"]
        if set(message) - _MESSAGES[role]:
            return f"unknown parameter in a message of role {role}"
        if role == "tool":
            if message["tool_call_id"] not in waiting:
                return "tool call id not found in previous tool calls"
            waiting.discard(message["tool_call_id"])
            continue
        if waiting:
            return "all tool calls must be followed by a tool result"
        if role == "assistant":
            waiting = {call["id"] for call in message.get("tool_calls", [])}
            if not waiting and not message.get("content"):
                return "message must be at least 1 token long"
    return (
        "last message must be of role user or tool"
        if body["messages"][-1]["role"] == "assistant"
        else ""
    )


def text(*pieces: str, kind: str = "text", index: int = 0) -> list[Any]:
    """The events of a block of text or thinking."""
    said = [{kind: piece} for piece in pieces]
    return [
        _event("content-start", index, {"content": {"type": kind, kind: ""}}),
        *(_event("content-delta", index, {"content": piece}) for piece in said),
        {"type": "content-end", "index": index},
    ]


def call(index: int, call_id: str, *arguments: str, name: str = "read") -> list[Any]:
    """The events of one call."""
    function = {"name": name, "arguments": ""}
    start = {"tool_calls": {"id": call_id, "type": "function", "function": function}}
    return [
        _event("tool-call-start", index, start),
        *(
            _event("tool-call-delta", index, {"tool_calls": {"function": {"arguments": piece}}})
            for piece in arguments
        ),
        {"type": "tool-call-end", "index": index},
    ]


def end(reason: str = "COMPLETE", **delta: Any) -> list[Any]:
    """The last event."""
    usage = {
        "tokens": {"input_tokens": 10, "output_tokens": 5},
        "billed_units": {"input_tokens": 1},
    }
    return [{"type": "message-end", "delta": {"finish_reason": reason, "usage": usage, **delta}}]


def _event(kind: str, index: int, message: Any) -> Any:
    return {"type": kind, "index": index, "delta": {"message": message}}
