"""What Anthropic's Messages API wants beyond the common form."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from providers.messages import (
    AssistantMessage,
    Message,
    ProviderRequest,
    Reasoning,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
)

_NOT_IN_AN_ID = re.compile(r"[^a-zA-Z0-9_-]")
_MARK = {"type": "ephemeral"}
# Anthropic takes four cache marks in a request.
MARKED_SYSTEM = 2
MARKED_MESSAGES = 2


def safe_call_ids(request: ProviderRequest) -> ProviderRequest:
    """Bring ids of other providers to the letters, digits, `_` and `-` that are allowed."""
    return replace(request, messages=tuple(_with_safe_ids(m) for m in request.messages))


def _with_safe_ids(message: Message) -> Message:
    if isinstance(message, ToolResultMessage):
        return replace(message, call_id=_safe(message.call_id))
    if isinstance(message, AssistantMessage):
        return AssistantMessage(
            tuple(
                replace(part, id=_safe(part.id)) if isinstance(part, ToolCall) else part
                for part in message.content
            )
        )
    return message


def _safe(call_id: str) -> str:
    return _NOT_IN_AN_ID.sub("_", call_id)


def drop_unsigned_reasoning(request: ProviderRequest) -> ProviderRequest:
    """Leave out reasoning that Anthropic did not sign: it refuses such a block."""
    messages = tuple(
        AssistantMessage(tuple(p for p in m.content if not _is_unsigned(p)))
        if isinstance(m, AssistantMessage)
        else m
        for m in request.messages
    )
    return replace(request, messages=messages)


def _is_unsigned(part: object) -> bool:
    if not isinstance(part, Reasoning):
        return False
    facts = (part.metadata or {}).get("anthropic")
    return not (isinstance(facts, dict) and (facts.get("signature") or facts.get("redactedData")))


def offer_a_tool_for_old_calls(request: ProviderRequest) -> ProviderRequest:
    """A history with tool calls is refused unless some tool is offered; a summary offers none."""
    has_calls = any(isinstance(message, ToolResultMessage) for message in request.messages)
    if request.tools or not has_calls:
        return request
    tool = ToolDefinition(
        "unavailable", "Not available now. Answer with text.", {"type": "object", "properties": {}}
    )
    return replace(request, tools=(tool,), tool_choice="none")


def mark_cache(messages: list[dict[str, Any]]) -> None:  # encoded wire messages
    """Mark, in place, the first two system and the last two other messages as cache boundaries.

    The stable start is then paid once, and the conversation is read back from the turn before.
    """
    system = [message for message in messages if message["role"] == "system"]
    others = [message for message in messages if message["role"] != "system"]
    for message in (*system[:MARKED_SYSTEM], *others[-MARKED_MESSAGES:]):
        _mark(message)


def _mark(message: dict[str, Any]) -> None:
    content = message.get("content")
    if isinstance(content, str) and message["role"] != "tool":
        message["content"] = [{"type": "text", "text": content, "cache_control": _MARK}]
    elif isinstance(content, list) and content:
        content[-1] = {**content[-1], "cache_control": _MARK}
    elif message["role"] == "tool":
        message["cache_control"] = _MARK
    elif message.get("tool_calls"):
        message["tool_calls"][-1]["cache_control"] = _MARK
