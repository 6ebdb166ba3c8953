"""The one door to the model: nothing that others wrote passes for what this server says."""

from __future__ import annotations

from dataclasses import replace

from opencode_web.lib.marks import MARKS, defuse, defuse_json
from providers.llm.messages import (
    AssistantMessage,
    File,
    Message,
    ProviderRequest,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)

# Marks that we set ourselves in such a text, round what others wrote. What they wrote is defused
# where it is put into them.
_IN_SYSTEM = ("instructions",)
_IN_PROMPTS = ("shell_metadata",)
_IN_RESULTS = {
    "read": ("instructions",),
    "bash": ("shell_metadata",),
    "task": ("task_result",),
    "skill": ("skill_content",),
}


def defuse_marks(request: ProviderRequest) -> ProviderRequest:
    """Make our own marks plain in every text.

    Two things stay as they are: the model's thinking, which its provider has signed, and its calls,
    which are data and no text.
    """
    return replace(
        request,
        system=tuple(_but(_IN_SYSTEM, text) for text in request.system),
        messages=tuple(map(_message, request.messages)),
        tools=tuple(map(_tool, request.tools)),
    )


def _message(message: Message) -> Message:
    match message:
        case SystemMessage():
            return SystemMessage(_but(_IN_SYSTEM, message.text))
        case ToolResultMessage():
            return replace(message, output=_but(_IN_RESULTS.get(message.name, ()), message.output))
        case UserMessage():
            return UserMessage(tuple(map(_asked, message.content)))
        case AssistantMessage():
            return AssistantMessage(tuple(map(_said, message.content)))


def _asked(part: Text | File) -> Text | File:
    return replace(part, text=_but(_IN_PROMPTS, part.text)) if isinstance(part, Text) else part


def _said(part: Text | Reasoning | ToolCall) -> Text | Reasoning | ToolCall:
    return replace(part, text=defuse(part.text)) if isinstance(part, Text) else part


def _tool(tool: ToolDefinition) -> ToolDefinition:
    return replace(tool, description=defuse(tool.description), schema=defuse_json(tool.schema))


def _but(own: tuple[str, ...], text: str) -> str:
    return defuse(text, tuple(name for name in MARKS if name not in own))
