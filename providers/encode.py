"""ProviderRequest to the arguments of litellm, which are OpenAI's Chat Completions shapes."""

from __future__ import annotations

import json
from typing import Any

from opencode_web.lib.json import JsonObject
from providers.messages import (
    AssistantMessage,
    Image,
    Message,
    ProviderKind,
    ProviderRequest,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from providers.request_options import output_option, split_options
from providers.transforms import apply_transforms
from providers.transforms.anthropic import mark_cache

# What OpenCode asks for when the model would give more; and what an unknown Anthropic model surely
# gives.
MAX_OUTPUT_TOKENS = 32_000
ANTHROPIC_OUTPUT_TOKENS = 8_192

_JOINED = frozenset({"system", "user"})

Wire = dict[str, Any]  # litellm's arguments are open JSON-like dicts


def encode_request(request: ProviderRequest) -> Wire:
    """Apply the model's transforms and encode.

    Returns: messages, tools and parameters for `litellm.acompletion`; no key, no address.
    """
    request = apply_transforms(request)
    messages: list[Wire] = [{"role": "system", "content": text} for text in request.system if text]
    for message in request.messages:
        messages.extend(_encode_message(message, request))
    if request.model.kind is ProviderKind.ANTHROPIC:
        mark_cache(messages)
    if request.model.kind is ProviderKind.COMPATIBLE:
        messages = _join_neighbours(messages)
    known, extra_body = split_options(request.model.options, kind=request.model.kind)
    wire: Wire = {"messages": messages, **_controls(request), **known}
    if request.tools:
        wire["tools"] = [
            _encode_tool(tool.name, tool.description, tool.schema) for tool in request.tools
        ]
        if request.tool_choice != "auto":
            wire["tool_choice"] = request.tool_choice
    if request.model.headers:
        wire["extra_headers"] = dict(request.model.headers)
    if extra_body:
        wire["extra_body"] = extra_body
    return wire


def _join_neighbours(messages: list[Wire]) -> list[Wire]:
    """Make one message of several from the system, or from people, that follow each other.

    Chat templates of open models refuse a second one of the same role.
    """
    joined: list[Wire] = []
    for message in messages:
        last = joined[-1] if joined else None
        if last is None or last["role"] != message["role"] or message["role"] not in _JOINED:
            joined.append(message)
        elif isinstance(last["content"], str) and isinstance(message["content"], str):
            joined[-1] = {**last, "content": f"{last['content']}\n\n{message['content']}"}
        else:
            joined[-1] = {**last, "content": [*_blocks(last), *_blocks(message)]}
    return joined


def _blocks(message: Wire) -> list[Wire]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _controls(request: ProviderRequest) -> Wire:
    controls: Wire = {}
    if request.temperature is not None and request.model.capabilities.temperature:
        controls["temperature"] = request.temperature
    if request.top_p is not None:
        controls["top_p"] = request.top_p
    limit = request.model.limit.output
    fallback = ANTHROPIC_OUTPUT_TOKENS if request.model.kind is ProviderKind.ANTHROPIC else None
    most = request.max_output_tokens or (min(limit, MAX_OUTPUT_TOKENS) if limit else fallback)
    bounds = [bound for bound in (most, output_option(request.model.options)) if bound]
    if bounds:
        controls["max_tokens"] = min(bounds)
    if request.model.kind is ProviderKind.OPENAI:
        # Requests of one session share their prefix; this keeps them on one cache.
        controls["prompt_cache_key"] = request.session_id
        controls["store"] = False
    return controls


def _encode_message(message: Message, request: ProviderRequest) -> list[Wire]:
    match message:
        case SystemMessage():
            # A system message must stay at its place. Anthropic's wire hoists it to the top, and
            # many chat templates of open models refuse it there, so both get it as a marked user
            # message.
            if request.model.kind is ProviderKind.OPENAI:
                return [{"role": "system", "content": message.text}]
            return [
                {"role": "user", "content": f"<system-update>\n{message.text}\n</system-update>"}
            ]
        case UserMessage():
            return [{"role": "user", "content": _encode_user_content(message.content)}]
        case ToolResultMessage():
            return _encode_tool_result(message, inline=request.model.kind is ProviderKind.ANTHROPIC)
        case AssistantMessage():
            return [_encode_assistant(message, request)]


def _encode_user_content(content: tuple[Text | Image, ...]) -> str | list[Wire]:
    if len(content) == 1 and isinstance(content[0], Text):
        return content[0].text
    return [
        {"type": "text", "text": part.text} if isinstance(part, Text) else _encode_image(part)
        for part in content
    ]


def _encode_image(image: Image) -> Wire:
    return {"type": "image_url", "image_url": {"url": image.data_url}}


def _encode_tool_result(message: ToolResultMessage, *, inline: bool) -> list[Wire]:
    images = [_encode_image(image) for image in message.images]
    wire: Wire = {"role": "tool", "tool_call_id": message.call_id, "content": message.output}
    if not images:
        return [wire]
    if inline:
        wire["content"] = [{"type": "text", "text": message.output}, *images]
        return [wire]
    # Only Anthropic takes pictures in a tool result; elsewhere they follow as a message.
    note = {"type": "text", "text": f"Attached media from tool result: {message.name}"}
    return [wire, {"role": "user", "content": [note, *images]}]


def _encode_assistant(message: AssistantMessage, request: ProviderRequest) -> Wire:
    text = "".join(part.text for part in message.content if isinstance(part, Text))
    calls = [part for part in message.content if isinstance(part, ToolCall)]
    reasoning = [part for part in message.content if isinstance(part, Reasoning)]
    wire: Wire = {"role": "assistant", "content": text or None}
    if calls:
        wire["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": json.dumps(call.arguments, ensure_ascii=False),
                },
            }
            for call in calls
        ]
    if request.model.kind is ProviderKind.ANTHROPIC:
        blocks = [block for part in reasoning if (block := _thinking_block(part))]
        if blocks:
            wire["thinking_blocks"] = blocks
    elif field := request.model.capabilities.interleaved:
        name = field if isinstance(field, str) else "reasoning_content"
        wire[name] = "".join(part.text for part in reasoning)
    return wire


def _thinking_block(part: Reasoning) -> Wire | None:
    """Anthropic takes its thinking back only with the signature it gave."""
    facts = (part.metadata or {}).get("anthropic")
    if not isinstance(facts, dict):
        return None
    if facts.get("redactedData"):
        return {"type": "redacted_thinking", "data": facts["redactedData"]}
    if not facts.get("signature"):
        return None
    return {"type": "thinking", "thinking": part.text, "signature": facts["signature"]}


def _encode_tool(name: str, description: str, schema: JsonObject) -> Wire:
    function = {"name": name, "description": description, "parameters": schema}
    return {"type": "function", "function": function}
