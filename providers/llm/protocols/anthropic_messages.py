"""Messages, as Anthropic has made it and Vertex, Azure and gateways repeat it.

Source: https://platform.claude.com/docs/en/api/messages; what OpenCode 1.18 sends, recorded.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..families.ids import claude_version, is_claude
from ..json import JsonObject, JsonValue
from ..messages import (
    AssistantMessage,
    File,
    Message,
    ProviderRequest,
    Reasoning,
    Text,
    ToolCall,
    ToolChoice,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)
from ..options import options_of
from ..repairs import fold_system_messages
from ..route import Protocol
from ..schemas.exact import is_exact
from .anthropic_answer import VENDOR, MessagesDecoder
from .claude import MARKED_TURNS, cache_mark, in_snake_case, sampling_of, thinking_of
from .fields import object_at, text_at
from .turns import facts_of, joined, safe_id, turns_of, with_some_tool

VERSION = "2023-06-01"
BINDING_BETA = "thinking-binding-controls-2026-08-01"
PDF_BETA = "pdfs-2024-09-25"
TOOLS_BETA = "structured-outputs-2025-11-13"
# Fields of the body that are understood with a beta header alone.
_BETA_FIELDS = {
    "speed": "fast-mode-2026-02-01",
    "context_management": "context-management-2025-06-27",
}
_OPTIONS = {
    "metadata": "metadata",
    "serviceTier": "service_tier",
    "speed": "speed",
    "inferenceGeo": "inference_geo",
    "contextManagement": "context_management",
    "stopSequences": "stop_sequences",
}
# From here on its models can be held to a schema.
_EXACT = (4, 5)
_CHOICES = {"auto": "auto", "required": "any", "none": "none"}
_UNMARKED = frozenset({"thinking", "redacted_thinking"})
_MIMES = {"image/jpg": "image/jpeg", "image/*": "image/jpeg"}


@dataclass(frozen=True)
class Dialect:
    """How those who repeat the wire differ from Anthropic."""

    # Names of the header `anthropic-beta` that are in every call.
    betas: tuple[str, ...] = ()
    # Whether its tools are beta of their own, and give their arguments before they are complete.
    tools_beta: bool = True
    eager_tools: bool = True
    # A version that stands in the body; then the model is in the path.
    body_version: str = ""


class Messages(Protocol):
    """One call of `/messages`."""

    def __init__(self, dialect: Dialect | None = None) -> None:
        self.dialect = dialect or Dialect()

    def encode(self, request: ProviderRequest) -> JsonObject:
        """Returns: the body."""
        request = with_some_tool(fold_system_messages(request))
        options = options_of(request)
        thinking = thinking_of(request, options)
        sampling = sampling_of(request, is_thinking=thinking.is_on)
        mark = cache_mark(options)
        body: JsonObject = {
            "model": None if self.dialect.body_version else request.model.api_model,
            "max_tokens": thinking.limit,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "top_k": sampling.top_k,
            **thinking.fields,
            **{wire: in_snake_case(options.get(name)) for name, wire in _OPTIONS.items()},
            "system": _system(request, mark),
            "messages": _messages(request, mark),
            **self._tools(request, options, thinking.choice_of(request)),
            "stream": True,
            "anthropic_version": self.dialect.body_version or None,
        }
        return {name: value for name, value in body.items() if value is not None}

    def decoder(self, request: ProviderRequest) -> MessagesDecoder:
        """Returns: a reader of the answer."""
        return MessagesDecoder()

    def headers(self, request: ProviderRequest, body: JsonObject) -> Mapping[str, str]:
        """Returns: the version, and what has to be switched on; what a person adds comes last."""
        given = {name.lower(): value for name, value in request.model.headers.items()}
        version = "" if self.dialect.body_version else VERSION
        headers = {"anthropic-version": given.get("anthropic-version", version)}
        betas = [*self._betas(request, body), *given.get("anthropic-beta", "").split(",")]
        named = dict.fromkeys(name.strip() for name in betas)
        headers["anthropic-beta"] = ",".join(name for name in named if name)
        return headers

    def _betas(self, request: ProviderRequest, body: JsonObject) -> Iterator[str]:
        if "block_binding" in object_at(body, "thinking"):
            yield BINDING_BETA
        if any(file.kind == "pdf" for file in request.files):
            yield PDF_BETA
        if "tools" in body and self.dialect.tools_beta:
            yield TOOLS_BETA
        yield from (beta for name, beta in _BETA_FIELDS.items() if name in body)
        yield from self.dialect.betas
        wanted = options_of(request).get("anthropicBeta")
        yield from (str(name) for name in (wanted if isinstance(wanted, list) else ()))

    def _tools(
        self, request: ProviderRequest, options: JsonObject, wanted: ToolChoice
    ) -> JsonObject:
        if not request.tools:
            return {}
        choice: JsonObject = {"type": _CHOICES[wanted]}
        is_single = options.get("parallelToolCalls") is False
        if (is_single or options.get("disableParallelToolUse")) and wanted != "none":
            choice["disable_parallel_tool_use"] = True
        is_eager = self.dialect.eager_tools and options.get("toolStreaming") is not False
        is_eager = is_eager and is_claude(request.model.api_model)
        is_able = claude_version(request.model.api_model) >= _EXACT
        can_be_exact = self.dialect.tools_beta and is_able
        tools: list[JsonValue] = [
            _exact_tool(tool) if can_be_exact and is_exact(tool) else _tool(tool, is_eager)
            for tool in request.tools
        ]
        return {"tools": tools, "tool_choice": choice}


def _tool(tool: ToolDefinition, is_eager: bool) -> JsonValue:
    wire: JsonObject = {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.schema,
    }
    return {**wire, "eager_input_streaming": True} if is_eager else wire


def _exact_tool(tool: ToolDefinition) -> JsonValue:
    """Arguments that are checked while they are written do not come before that."""
    wire = _tool(tool, is_eager=False)
    assert isinstance(wire, dict)
    return {**wire, "strict": True}


def _system(request: ProviderRequest, mark: JsonObject | None) -> JsonValue:
    text = request.system_text
    if not text.strip():
        return None
    return [{"type": "text", "text": text, **({"cache_control": mark} if mark else {})}]


def _messages(request: ProviderRequest, mark: JsonObject | None) -> list[JsonValue]:
    turns = turns_of(request.messages, _blocks)
    if mark:
        for turn in turns[-MARKED_TURNS:]:
            _mark_last(turn.blocks, mark)
    return joined(turns)


def _mark_last(blocks: list[JsonValue], mark: JsonObject) -> None:
    for index in reversed(range(len(blocks))):
        block = blocks[index]
        if isinstance(block, dict) and block["type"] not in _UNMARKED:
            blocks[index] = {**block, "cache_control": mark}
            return


def _blocks(message: Message) -> list[JsonValue]:
    match message:
        case UserMessage():
            parts = message.content
            return [block for part in parts for block in _user_block(part)]
        case ToolResultMessage():
            return [_result(message)]
        case AssistantMessage():
            return [block for part in message.content for block in _said(part)]
    raise AssertionError(message)


def _user_block(part: Text | File) -> list[JsonValue]:
    if isinstance(part, Text):
        return _text(part.text)
    return [_file(part, title=part.name)]


def _text(text: str) -> list[JsonValue]:
    # One without a word in it is refused.
    return [{"type": "text", "text": text}] if text.strip() else []


def _file(file: File, *, title: str = "") -> JsonValue:
    mime = _MIMES.get(file.mime, file.mime)
    source: JsonObject = {"type": "base64", "media_type": mime, "data": file.base64}
    if file.is_image:
        return {"type": "image", "source": source}
    if file.kind == "text":
        source = {"type": "text", "media_type": "text/plain", "data": _decoded(file)}
    block: JsonObject = {"type": "document", "source": source}
    return {**block, "title": title} if title else block


def _decoded(file: File) -> str:
    try:
        return base64.b64decode(file.base64).decode("utf-8", "replace")
    except binascii.Error:
        return file.base64


def _result(message: ToolResultMessage) -> JsonValue:
    wire: JsonObject = {"type": "tool_result", "tool_use_id": safe_id(message.call_id)}
    if message.files:
        files = [_file(file) for file in message.files]
        # An error with anything but text in it is refused, so that it goes without its mark.
        return {**wire, "content": [*_text(message.output), *files]}
    wire["content"] = message.output
    return {**wire, "is_error": True} if message.is_error else wire


def _said(part: Text | Reasoning | ToolCall) -> list[JsonValue]:
    if isinstance(part, Text):
        return _text(part.text)
    if isinstance(part, ToolCall):
        call: JsonObject = {"type": "tool_use", "id": safe_id(part.id), "name": part.name}
        return [{**call, "input": part.arguments}]
    facts = facts_of(part.metadata, VENDOR)
    if signature := text_at(facts, "signature"):
        return [{"type": "thinking", "thinking": part.text, "signature": signature}]
    if data := text_at(facts, "redactedData"):
        return [{"type": "redacted_thinking", "data": data}]
    # Thinking that is not signed here is refused.
    return []
