"""Converse, the one wire of all models of Amazon Bedrock.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html;
what OpenCode 1.18 sends, recorded.
"""

from __future__ import annotations

from ..families.ids import is_claude
from ..framing_aws import event_stream
from ..json import JsonObject, JsonValue
from ..limits import output_limit
from ..messages import (
    AssistantMessage,
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
from .claude import MARKED_TURNS, Sampling, cache_mark, sampling_of, thinking_of
from .converse_answer import VENDOR, ConverseDecoder
from .converse_files import Documents, image_block, is_picture, with_files_apart
from .fields import object_at, text_at
from .turns import facts_of, has_calls, joined, safe_id, turns_of, with_some_tool

# Not passed on as they are: read here, or set by what the request itself says.
_KNOWN = frozenset(
    {"thinking", "effort", "reasoningConfig", "additionalModelRequestFields", "anthropicBeta",
     "cacheControl", "serviceTier", "toolConfig", "inferenceConfig",
     "additionalModelResponseFieldPaths"}
)  # fmt: skip
_MAX_ID_CHARS = 64
# The wire takes no text without a word in it, not even as a result.
_NOTHING = "(no output)"


class Converse(Protocol):
    """One call of `/converse-stream`."""

    framing = staticmethod(event_stream)

    def encode(self, request: ProviderRequest) -> JsonObject:
        """Returns: the body. The model is in the path."""
        request = with_some_tool(with_files_apart(fold_system_messages(request)))
        options = _options(request)
        mark = _mark(request, options)
        system = request.system_text
        body: JsonObject = {
            "system": [{"text": system}, *mark] if system.strip() else [],
            "messages": _messages(request, mark),
            **_inference(request, options),
        }
        if isinstance(tier := options.get("serviceTier"), str):
            body["serviceTier"] = {"type": tier}
        body.update({name: value for name, value in options.items() if name not in _KNOWN})
        is_claude = _is_claude(request)
        choice = thinking_of(request, options).choice_of(request) if is_claude else None
        body["toolConfig"] = _tools(request, choice or request.tool_choice)
        return {name: value for name, value in body.items() if value not in ({}, [])}

    def decoder(self, request: ProviderRequest) -> ConverseDecoder:
        """Returns: a reader of the answer."""
        return ConverseDecoder()


def _is_claude(request: ProviderRequest) -> bool:
    # The name of a profile of one's own says nothing; then that in the settings may.
    return is_claude(request.model.api_model) or is_claude(request.model.ref.model_id)


def _options(request: ProviderRequest) -> JsonObject:
    """Two vocabularies say how Claude thinks: its own, and that of Bedrock's models."""
    options = options_of(request)
    config = object_at(options, "reasoningConfig")
    if not config or not _is_claude(request):
        return options
    thinking = {name: value for name, value in config.items() if name != "maxReasoningEffort"}
    named: JsonObject = {"thinking": thinking} if thinking else {}
    if effort := config.get("maxReasoningEffort"):
        named["effort"] = effort
    return {**named, **options}


def _inference(request: ProviderRequest, options: JsonObject) -> JsonObject:
    fields = dict(object_at(options, "additionalModelRequestFields"))
    if isinstance(betas := options.get("anthropicBeta"), list):
        fields["anthropic_beta"] = betas
    if _is_claude(request):
        thinking = thinking_of(request, options)
        sampling = sampling_of(request, is_thinking=thinking.is_on)
        top_k: JsonObject = {} if sampling.top_k is None else {"top_k": sampling.top_k}
        return {
            "additionalModelRequestFields": {**fields, **thinking.fields, **top_k},
            "additionalModelResponseFieldPaths": ["/delta/stop_sequence"],
            "inferenceConfig": _config(thinking.limit, sampling),
        }
    fields.update(_reasoning(request, options))
    sampling = Sampling(_temperature(request), request.top_p)
    if object_at(fields, "reasoningConfig").get("maxReasoningEffort") == "high":
        # Nova refuses to be told how to sample when it thinks hardest.
        sampling = Sampling()
    config = _config(output_limit(request), sampling)
    return {"additionalModelRequestFields": fields, "inferenceConfig": config}


def _temperature(request: ProviderRequest) -> float | None:
    if request.temperature is None or not request.model.capabilities.temperature:
        return None
    return min(max(request.temperature, 0.0), 1.0)


def _reasoning(request: ProviderRequest, options: JsonObject) -> JsonObject:
    config = object_at(options, "reasoningConfig")
    if not request.model.api_model.startswith("openai."):
        return {"reasoningConfig": config} if config else {}
    effort = config.get("maxReasoningEffort")
    return {"reasoning_effort": effort} if effort else {}


def _config(limit: int | None, sampling: Sampling) -> JsonObject:
    config: JsonObject = {
        "maxTokens": limit,
        "temperature": sampling.temperature,
        "topP": sampling.top_p,
    }
    return {name: value for name, value in config.items() if value is not None}


def _tools(request: ProviderRequest, wanted: ToolChoice) -> JsonObject:
    """A call cannot be forbidden here, but with calls in the history tools have to be there."""
    is_forbidden = wanted == "none"
    if not request.tools or (is_forbidden and not has_calls(request)):
        return {}
    wire: JsonObject = {"tools": [_tool(tool) for tool in request.tools]}
    choice = "any" if wanted == "required" else "auto"
    return wire if is_forbidden else {**wire, "toolChoice": {choice: {}}}


def _tool(tool: ToolDefinition) -> JsonValue:
    spec: JsonObject = {"name": tool.name}
    if tool.description.strip():
        spec["description"] = tool.description
    return {"toolSpec": {**spec, "inputSchema": {"json": tool.schema}}}


def _mark(request: ProviderRequest, options: JsonObject) -> list[JsonValue]:
    mark = cache_mark(options) if _is_claude(request) else None
    if not mark:
        return []
    lifetime = {"ttl": mark["ttl"]} if "ttl" in mark else {}
    return [{"cachePoint": {"type": "default", **lifetime}}]


def _messages(request: ProviderRequest, mark: list[JsonValue]) -> list[JsonValue]:
    documents = Documents()
    # The others refuse the field.
    tells_errors = _is_claude(request) or "nova" in request.model.api_model
    turns = turns_of(request.messages, lambda message: _blocks(message, documents, tells_errors))
    for turn in turns[-MARKED_TURNS:]:
        turn.blocks.extend(mark)
    return joined(turns)


def _blocks(message: Message, documents: Documents, tells_errors: bool) -> list[JsonValue]:
    match message:
        case UserMessage():
            return documents.blocks(message)
        case ToolResultMessage():
            return [_result(message, tells_errors)]
        case AssistantMessage():
            return [block for part in message.content for block in _said(part)]
    raise AssertionError(message)


def _result(message: ToolResultMessage, tells_errors: bool) -> JsonValue:
    pictures = [image_block(file) for file in message.files if is_picture(file)]
    has_text = bool(message.output.strip())
    text = message.output if has_text else _NOTHING
    content: list[JsonValue] = [{"text": text}] if has_text or not pictures else []
    result: JsonObject = {"toolUseId": _id(message.call_id), "content": [*content, *pictures]}
    if message.is_error and tells_errors:
        result["status"] = "error"
    return {"toolResult": result}


def _said(part: Text | Reasoning | ToolCall) -> list[JsonValue]:
    if isinstance(part, Text):
        return [{"text": part.text}] if part.text.strip() else []
    if isinstance(part, ToolCall):
        call: JsonObject = {"toolUseId": _id(part.id), "name": part.name, "input": part.arguments}
        return [{"toolUse": call}]
    facts = facts_of(part.metadata, VENDOR)
    if signature := text_at(facts, "signature"):
        thought: JsonObject = {"text": part.text, "signature": signature}
        return [{"reasoningContent": {"reasoningText": thought}}]
    if data := text_at(facts, "redactedData"):
        return [{"reasoningContent": {"redactedContent": data}}]
    # Thinking that is not signed here is refused.
    return []


def _id(call_id: str) -> str:
    return safe_id(call_id, max_chars=_MAX_ID_CHARS)
