"""A cheap guess at the size of a text; the exact count comes from the provider after the call."""

from __future__ import annotations

import json
from itertools import takewhile

from providers.llm.messages import (
    AssistantMessage,
    File,
    Message,
    ProviderRequest,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

CHARS_PER_TOKEN = 4
# Providers charge a picture by its size; this is about what a screenshot costs.
IMAGE_TOKENS = 1_500


def estimate(text: str) -> int:
    """Units: tokens. Source: OpenCode's estimate, round(characters / 4)."""
    return round(len(text) / CHARS_PER_TOKEN)


def estimate_message(message: Message) -> int:
    """Units: tokens."""
    match message:
        case SystemMessage():
            return estimate(message.text)
        case ToolResultMessage():
            return estimate(message.output) + len(message.files) * IMAGE_TOKENS
        case UserMessage() | AssistantMessage():
            return sum(_estimate_part(part) for part in message.content)


def estimate_request(request: ProviderRequest) -> int:
    """Units: tokens; system texts, messages and tool definitions together."""
    tools = sum(
        estimate(tool.name + tool.description + json.dumps(tool.schema)) for tool in request.tools
    )
    system = sum(estimate(text) for text in request.system)
    return system + tools + sum(estimate_message(message) for message in request.messages)


def estimate_fresh(request: ProviderRequest) -> int:
    """Units: tokens; of what came after the newest answer: results of its tools, and prompts."""
    fresh = takewhile(
        lambda message: not isinstance(message, AssistantMessage), reversed(request.messages)
    )
    return sum(estimate_message(message) for message in fresh)


def _estimate_part(part: Text | File | Reasoning | ToolCall) -> int:
    match part:
        case Text() | Reasoning():
            return estimate(part.text)
        case ToolCall():
            return estimate(part.name + json.dumps(part.arguments))
        case File():
            return IMAGE_TOKENS
