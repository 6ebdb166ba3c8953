"""OpenRouter and Mistral as they are: chat servers that refuse what these two refuse."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx

from tests.providers.llm.talk import sse

_MISTRAL_FIELDS = {
    "model",
    "messages",
    "tools",
    "tool_choice",
    "stream",
    "max_tokens",
    "temperature",
    "top_p",
    "prompt_cache_key",
    "reasoning_effort",
    "safe_prompt",
    "parallel_tool_calls",
}


class _ChatServer(httpx.MockTransport):
    def __init__(self, *answers: Any) -> None:
        super().__init__(self._answer)
        self.answers = list(answers)
        self.bodies: list[Any] = []
        self.requests: list[httpx.Request] = []

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        body = json.loads(request.content)
        self.bodies.append(body)
        if wrong := unmatched(body["messages"]) or self.wrong(body):
            return httpx.Response(400, json=self.error(wrong))
        answer = self.answers.pop(0)
        if isinstance(answer, httpx.Response):
            return answer
        self.remember(answer)
        return sse(*answer, "[DONE]")

    def wrong(self, body: Any) -> str:
        raise NotImplementedError

    def error(self, message: str) -> Any:
        raise NotImplementedError

    def remember(self, frames: list[Any]) -> None:
        pass


def unmatched(messages: list[Any]) -> str:
    """Returns: what is wrong with calls and results, if something is."""
    waiting: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return "Unexpected tool call id in tool results"
            waiting.discard(message["tool_call_id"])
        elif waiting:
            return "Not the same number of function calls and responses"
        waiting |= {call["id"] for call in message.get("tool_calls", [])}
    return ""


class MistralServer(_ChatServer):
    def error(self, message: str) -> Any:
        kind = "invalid_request_error"
        return {"object": "error", "message": message, "type": kind, "param": None, "code": "3230"}

    def wrong(self, body: Any) -> str:
        if unknown := sorted(set(body) - _MISTRAL_FIELDS):
            return f"Extra inputs are not permitted: {unknown[0]}"
        if body.get("tool_choice") not in {None, "auto", "any", "none"}:
            return "Invalid tool_choice"
        before = ""
        for message in body["messages"]:
            role = message["role"]
            if before == "tool" and role == "user":
                return "Unexpected role 'user' after role 'tool'"
            if role == "assistant" and not message["content"] and not message.get("tool_calls"):
                return "Assistant message must have either content or tool_calls, but not none."
            for call in message.get("tool_calls", []):
                if not re.fullmatch("[a-zA-Z0-9]{9}", call["id"]):
                    return (
                        f"Tool call id was {call['id']} but must be a-z, A-Z, 0-9, with a length "
                        "of 9."
                    )
            if set(message) - {"role", "content", "tool_calls", "tool_call_id", "name"}:
                return "Extra inputs are not permitted"
            for part in message["content"] if isinstance(message["content"], list) else ():
                if part["type"] not in {"text", "image_url", "document_url", "thinking"}:
                    return "Input tag does not match any of the expected tags"
            before = role
        return ""


class OpenRouterServer(_ChatServer):
    """Behind it, a vendor knows what it has signed."""

    def __init__(self, *answers: Any) -> None:
        super().__init__(*answers)
        self._signed: dict[str, str] = {}

    def error(self, message: str) -> Any:
        raw = json.dumps({"message": message})
        return {"error": {"message": message, "code": 400, "metadata": {"raw": raw}}}

    def remember(self, frames: list[Any]) -> None:
        text = ""
        for frame in frames:
            for choice in frame.get("choices", []):
                for detail in choice["delta"].get("reasoning_details", []):
                    text += detail.get("text", "")
                    if "signature" in detail:
                        self._signed[detail["signature"]] = text

    def wrong(self, body: Any) -> str:
        seen: set[str] = set()
        marks = 0
        for message in body["messages"]:
            content = message["content"] if isinstance(message["content"], list) else []
            marks += sum("cache_control" in part for part in [message, *content])
            for detail in message.get("reasoning_details", []):
                signature = detail.get("signature")
                if signature and self._signed.get(signature) != detail["text"]:
                    return "messages.1.content.0: Invalid `signature` in `thinking` block"
                if detail["type"] == "reasoning.text" and not signature:
                    return "messages.1.content.0.thinking.signature: Field required"
                if detail.get("id") in seen:
                    return f"Duplicate item found with id {detail['id']}"
                seen |= {detail["id"]} if detail.get("id") else set()
        if marks > 4:
            return "A maximum of 4 blocks with cache_control may be provided."
        if marks and "claude" not in body["model"]:
            return "cache_control is for Claude"
        return ""


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """One chunk."""
    return {
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": fields, "finish_reason": finish}],
    }


def call(index: int, call_id: str, arguments: str, name: str = "read") -> Any:
    """A whole call in a delta."""
    function = {"name": name, "arguments": arguments}
    return {"index": index, "id": call_id, "type": "function", "function": function}


def usage(**details: Any) -> dict[str, Any]:
    """The chunk with the counts."""
    return {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5, **details}}
