"""Repairs of the conversation that every model needs."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TypeVar, cast

from opencode_web.lib.json import JsonValue
from providers.messages import (
    AssistantMessage,
    Image,
    Message,
    ProviderRequest,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

INTERRUPTED = "The tool call was interrupted; it has no result."

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
J = TypeVar("J", bound=JsonValue)


def clean_text(text: str) -> str:
    """Replace lone surrogates by U+FFFD: they cannot be written as UTF-8."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def replace_lone_surrogates(request: ProviderRequest) -> ProviderRequest:
    """Clean every text of the request."""
    system = tuple(clean_text(text) for text in request.system)
    return replace(request, system=system, messages=tuple(_clean(m) for m in request.messages))


def _clean(message: Message) -> Message:
    match message:
        case SystemMessage():
            return SystemMessage(clean_text(message.text))
        case ToolResultMessage():
            return replace(message, output=clean_text(message.output))
        case UserMessage():
            return UserMessage(
                tuple(
                    Text(clean_text(p.text)) if isinstance(p, Text) else p for p in message.content
                )
            )
        case AssistantMessage():
            return AssistantMessage(tuple(_clean_part(part) for part in message.content))


def _clean_part(part: Text | Reasoning | ToolCall) -> Text | Reasoning | ToolCall:
    if isinstance(part, ToolCall):
        return replace(part, arguments=_clean_json(part.arguments))
    return replace(part, text=clean_text(part.text))


def _clean_json(value: J) -> J:
    if isinstance(value, str):
        return cast("J", clean_text(value))
    if isinstance(value, list):
        return cast("J", [_clean_json(item) for item in value])
    if isinstance(value, dict):
        return cast("J", {clean_text(key): _clean_json(item) for key, item in value.items()})
    return value


def settle_orphan_calls(request: ProviderRequest) -> ProviderRequest:
    """Give every tool call a result right after it, and drop results that answer no call.

    Providers refuse a conversation in which the two do not match; one is left behind by a crash.
    """
    results = {m.call_id: m for m in request.messages if isinstance(m, ToolResultMessage)}
    settled: list[Message] = []
    for message in request.messages:
        if isinstance(message, ToolResultMessage):
            continue
        settled.append(message)
        if isinstance(message, AssistantMessage):
            calls = (part for part in message.content if isinstance(part, ToolCall))
            settled.extend(results.get(call.id) or _interrupted(call) for call in calls)
    return replace(request, messages=tuple(settled))


def _interrupted(call: ToolCall) -> ToolResultMessage:
    return ToolResultMessage(call.id, call.name, INTERRUPTED, is_error=True)


def replace_images_the_model_cannot_see(request: ProviderRequest) -> ProviderRequest:
    """Put a sentence in the place of each picture when the model takes none."""
    if "image" in request.model.capabilities.input:
        return request
    return replace(request, messages=tuple(_without_images(m) for m in request.messages))


def _without_images(message: Message) -> Message:
    note = "[A picture was here. This model cannot see pictures; tell the person if it matters.]"
    if isinstance(message, UserMessage):
        content = tuple(Text(note) if isinstance(p, Image) else p for p in message.content)
        return UserMessage(content)
    if isinstance(message, ToolResultMessage) and message.images:
        return replace(message, output=f"{message.output}\n{note}", images=())
    return message


def drop_empty_parts(request: ProviderRequest) -> ProviderRequest:
    """Leave out empty texts, and messages that have nothing else. An empty tool result stays."""
    kept: list[Message] = []
    for message in request.messages:
        match message:
            case SystemMessage() if message.text.strip():
                kept.append(message)
            case UserMessage():
                user = tuple(p for p in message.content if not _is_empty(p))
                kept.extend([UserMessage(user)] if user else [])
            case AssistantMessage():
                said = tuple(p for p in message.content if not _is_empty(p))
                # Reasoning alone is no answer: providers refuse a message without text or call.
                if any(not isinstance(part, Reasoning) for part in said):
                    kept.append(AssistantMessage(said))
            case ToolResultMessage():
                kept.append(message)
            case SystemMessage():
                pass
    return replace(request, messages=tuple(kept))


def _is_empty(part: Text | Image | Reasoning | ToolCall) -> bool:
    if isinstance(part, Reasoning):
        return not part.text and not part.metadata
    return isinstance(part, Text) and not part.text.strip()
