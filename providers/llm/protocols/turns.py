"""Conversations for wires on which a person and the model take turns.

A result of a tool counts as said by the person. What stands together and is of one role becomes one
message; calls need an id in a narrow alphabet and, in the history too, some tool that is offered.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from ..json import JsonObject, JsonValue
from ..messages import (
    AssistantMessage,
    Message,
    ProviderRequest,
    ToolDefinition,
    ToolResultMessage,
)

_NOT_IN_AN_ID = re.compile(r"[^a-zA-Z0-9_-]")
_UNAVAILABLE = ToolDefinition(
    "_noop", "Not available now: answer with text.", {"type": "object", "properties": {}}
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One message, or results of tools that stand together, as blocks of the wire."""

    role: str
    blocks: list[JsonValue]


def turns_of(
    messages: Iterable[Message], write: Callable[[Message], list[JsonValue]]
) -> list[Turn]:
    """Returns: what was said, in order; a message of which nothing is left is not there."""
    turns: list[Turn] = []
    were_results = False
    for message in messages:
        blocks = write(message)
        are_results = isinstance(message, ToolResultMessage)
        if are_results and were_results:
            turns[-1].blocks.extend(blocks)
        elif blocks:
            role = "assistant" if isinstance(message, AssistantMessage) else "user"
            turns.append(Turn(role, blocks))
        were_results = are_results
    return turns


def joined(turns: Iterable[Turn]) -> list[JsonValue]:
    """Returns: messages whose roles alternate."""
    messages: list[Turn] = []
    for turn in turns:
        if messages and messages[-1].role == turn.role:
            messages[-1].blocks.extend(turn.blocks)
        else:
            messages.append(Turn(turn.role, list(turn.blocks)))
    return [{"role": turn.role, "content": turn.blocks} for turn in messages]


def safe_id(call_id: str, *, max_chars: int = 0) -> str:
    """Returns: the id of a call, perhaps of another vendor's, as these wires take it."""
    made = _NOT_IN_AN_ID.sub("_", call_id)
    if not max_chars or len(made) <= max_chars:
        return made
    return hashlib.sha256(made.encode()).hexdigest()[:max_chars]


def with_some_tool(request: ProviderRequest) -> ProviderRequest:
    """Offer a tool that does nothing where the history has calls and none is offered.

    The wires refuse calls without tools; a summary of a conversation offers none.
    """
    if request.tools or not has_calls(request):
        return request
    return replace(request, tools=(_UNAVAILABLE,), tool_choice="none")


def has_calls(request: ProviderRequest) -> bool:
    """Whether the model has called a tool so far."""
    return any(isinstance(message, ToolResultMessage) for message in request.messages)


def facts_of(metadata: JsonObject | None, vendor: str) -> JsonObject:
    """Returns: what this vendor wants back; nothing of what is another's."""
    facts = (metadata or {}).get(vendor)
    return facts if isinstance(facts, dict) else {}
