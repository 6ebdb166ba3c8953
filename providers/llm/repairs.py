"""Repairs of the conversation that every model needs. Pure functions from request to request."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar, cast

from .file_limits import leave_out_surplus, replace_files
from .json import JsonValue, dump
from .messages import (
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

INTERRUPTED = "The tool call was interrupted; it has no result."

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
J = TypeVar("J", bound=JsonValue)


def clean_text(text: str) -> str:
    """Replace lone surrogates by U+FFFD: they cannot be written as UTF-8."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def replace_lone_surrogates(request: ProviderRequest) -> ProviderRequest:
    """Clean every text of the request, those of tools too: servers of others describe them."""
    system = tuple(clean_text(text) for text in request.system)
    messages = tuple(_clean(message) for message in request.messages)
    tools = tuple(_clean_tool(tool) for tool in request.tools)
    return replace(request, system=system, messages=messages, tools=tools)


def _clean_tool(tool: ToolDefinition) -> ToolDefinition:
    try:
        # To walk through all schemas takes much longer, and hardly any needs it.
        f"{tool.description}{dump(tool.schema)}".encode()
    except UnicodeEncodeError:
        schema = _clean_json(tool.schema)
        return replace(tool, description=clean_text(tool.description), schema=schema)
    return tool


def _clean(message: Message) -> Message:
    match message:
        case SystemMessage():
            return SystemMessage(clean_text(message.text))
        case ToolResultMessage():
            files = tuple(_clean_file(file) for file in message.files)
            return replace(message, output=clean_text(message.output), files=files)
        case UserMessage():
            return UserMessage(
                tuple(
                    _clean_file(p) if isinstance(p, File) else replace(p, text=clean_text(p.text))
                    for p in message.content
                )
            )
        case AssistantMessage():
            return AssistantMessage(tuple(_clean_part(part) for part in message.content))


def _clean_file(file: File) -> File:
    return replace(file, name=clean_text(file.name))


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
    # Some servers give every answer's first call the same id: its own result is the next one.
    results: defaultdict[str, deque[ToolResultMessage]] = defaultdict(deque)
    for message in request.messages:
        if isinstance(message, ToolResultMessage):
            results[message.call_id].append(message)
    settled: list[Message] = []
    for message in request.messages:
        if isinstance(message, ToolResultMessage):
            continue
        settled.append(message)
        if isinstance(message, AssistantMessage):
            calls = [part for part in message.content if isinstance(part, ToolCall)]
            waiting = [results[call.id] for call in calls]
            settled.extend(
                found.popleft() if found else _interrupted(call)
                for call, found in zip(calls, waiting, strict=True)
            )
    return replace(request, messages=tuple(settled))


def _interrupted(call: ToolCall) -> ToolResultMessage:
    return ToolResultMessage(call.id, call.name, INTERRUPTED, is_error=True)


def replace_unreadable_files(request: ProviderRequest) -> ProviderRequest:
    """Put a sentence in the place of each file of a kind that the model does not read."""
    readable = request.model.capabilities.input
    return replace_files(
        request, [file if file.kind in readable else _unreadable(file) for file in request.files]
    )


def _unreadable(file: File) -> str:
    name = f'"{file.name}"' if file.name else f"this {file.kind}"
    return (
        f"[The file {name} cannot be read by this model, which takes no {file.kind} input. "
        "Tell the person if it matters.]"
    )


def fold_system_messages(request: ProviderRequest) -> ProviderRequest:
    """Put what the system says in mid-conversation into a user message beside it.

    Most wires hoist a system message to the top, and chat templates of open models refuse it
    elsewhere. It stays at its place, with a mark.
    """
    messages: list[Message] = []
    waiting: list[Text] = []
    for message in request.messages:
        if isinstance(message, SystemMessage):
            waiting.append(Text(f"<system-update>\n{message.text}\n</system-update>"))
        elif waiting and isinstance(message, UserMessage):
            messages.append(UserMessage((*waiting, *message.content)))
            waiting = []
        else:
            messages.extend([UserMessage(tuple(waiting))] if waiting else [])
            messages.append(message)
            waiting = []
    last = messages[-1] if messages else None
    if waiting and isinstance(last, UserMessage):
        messages[-1] = UserMessage((*last.content, *waiting))
    elif waiting:
        messages.append(UserMessage(tuple(waiting)))
    return replace(request, messages=tuple(messages))


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


def _is_empty(part: Text | File | Reasoning | ToolCall) -> bool:
    if isinstance(part, Reasoning):
        return not part.text and not part.metadata
    return isinstance(part, Text) and not part.text.strip() and not part.metadata


def rename_calls(request: ProviderRequest, rename: Callable[[str], str]) -> ProviderRequest:
    """Give calls and their results other ids, for wires that do not take any id."""

    def renamed(message: Message) -> Message:
        if isinstance(message, ToolResultMessage):
            return replace(message, call_id=rename(message.call_id))
        if isinstance(message, AssistantMessage):
            return AssistantMessage(
                tuple(
                    replace(part, id=rename(part.id)) if isinstance(part, ToolCall) else part
                    for part in message.content
                )
            )
        return message

    return replace(request, messages=tuple(renamed(message) for message in request.messages))


def join_prompts(request: ProviderRequest) -> ProviderRequest:
    """Make one user message of several that follow each other.

    Chat templates of open models refuse a second one of the same role.
    """
    messages: list[Message] = []
    for message in request.messages:
        last = messages[-1] if messages else None
        if isinstance(message, UserMessage) and isinstance(last, UserMessage):
            messages[-1] = UserMessage((*last.content, *message.content))
        else:
            messages.append(message)
    return replace(request, messages=tuple(messages))


def drop_tools_it_cannot_call(request: ProviderRequest) -> ProviderRequest:
    """Offer none to a model that is listed as one without: its provider refuses them."""
    return request if request.model.capabilities.toolcall else replace(request, tools=())


def repair(request: ProviderRequest) -> ProviderRequest:
    """Return the request as every provider takes it; the given one is not changed."""
    for mend in (
        replace_lone_surrogates,
        replace_unreadable_files,
        leave_out_surplus,
        drop_tools_it_cannot_call,
        settle_orphan_calls,
        drop_empty_parts,
    ):
        request = mend(request)
    return request
