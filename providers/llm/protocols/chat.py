"""Chat Completions, as OpenAI has made it and many others speak it with differences of their own.

Source: https://platform.openai.com/docs/api-reference/chat and the vendors' own pages; what
differs was recorded from OpenCode's requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from ..blocks import Blocks
from ..errors import NetworkError, ServerError
from ..events import Failed, FinishReason, StreamEvent
from ..families.ids import is_claude
from ..framing import DONE
from ..json import JsonObject, JsonValue, dump
from ..limits import output_limit
from ..messages import (
    AssistantMessage,
    File,
    Message,
    ProviderRequest,
    Reasoning,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from ..options import options_of, renamed
from ..reasons import ErrorReason
from ..repairs import fold_system_messages, join_prompts
from ..route import Decoder, Protocol
from ..schemas.kimi import with_dialect
from .billed import Billed, not_said
from .chat_marks import mark_for_cache
from .claude import cache_mark
from .fields import count_at

_NAMES = {
    "reasoningEffort": "reasoning_effort",
    "textVerbosity": "verbosity",
    "serviceTier": "service_tier",
    "parallelToolCalls": "parallel_tool_calls",
    "promptCacheKey": "prompt_cache_key",
    "user": "user",
    "seed": "seed",
}
_REASONS = {
    "stop": FinishReason.STOP,
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "model_length": FinishReason.LENGTH,
    "tool_calls": FinishReason.TOOL_CALLS,
    "tool_use": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "content_filter": FinishReason.CONTENT_FILTER,
    "refusal": FinishReason.CONTENT_FILTER,
}
_ERROR_REASONS = frozenset({"error", "network_error"})
MEDIA_NOTE = "Attached media from tool result:"


# What a vendor's counts tell: whether cached tokens and reasoning are parts of them.
UsageDialect = Literal["cached", "reasoning", "plain"]


@dataclass(frozen=True)
class Dialect:
    """How a vendor's Chat Completions differ from the plain form of compatible servers."""

    # The name that its reasoning has in a message that is sent back; none: it is left out.
    reasoning_field: str | None = "reasoning_content"
    # Whether that field is in every message of the assistant, empty where there was none. Models of
    # DeepSeek refuse a message without it, whoever serves them.
    always_reasoning: bool = False
    usage_on_demand: bool = True
    names_results: bool = False
    # Whether prompts that follow each other become one, which templates of open models want.
    joins_prompts: bool = True
    keeps_unknown_options: bool = True
    option_names: Mapping[str, str] = field(default_factory=dict)
    usage: UsageDialect = "cached"
    # Where its counts say what it has billed.
    billed: Billed = not_said
    # Whose models keep what is marked of a prompt.
    marks: Literal["claude", "all", "none"] = "none"


class Chat(Protocol):
    """The plain form. Vendors whose messages differ in more than a name subclass it."""

    def __init__(self, dialect: Dialect | None = None) -> None:
        self.dialect = dialect or Dialect()

    def encode(self, request: ProviderRequest) -> JsonObject:
        """Returns: the body."""
        request = fold_system_messages(request)
        request = join_prompts(request) if self.dialect.joins_prompts else request
        body: JsonObject = {"model": request.model.api_model, **self.controls(request)}
        body.update(self.options(request))
        body["messages"] = self.messages(request)
        if request.tools:
            body["tools"] = [self.tool(tool) for tool in with_dialect(request).tools]
            body["tool_choice"] = self.tool_choice(request)
        body["stream"] = True
        if self.dialect.usage_on_demand:
            body["stream_options"] = {"include_usage": True}
        return body

    def decoder(self, request: ProviderRequest) -> Decoder:
        """Returns: a reader of the answer."""
        return ChatDecoder(self.dialect.usage, self.dialect.billed)

    def controls(self, request: ProviderRequest) -> JsonObject:
        """Returns: the limit of the answer and how it is sampled."""
        controls: JsonObject = {}
        limit = output_limit(request)
        if limit:
            controls["max_tokens"] = limit
        if request.temperature is not None and request.model.capabilities.temperature:
            controls["temperature"] = request.temperature
        if request.top_p is not None:
            controls["top_p"] = request.top_p
        return controls

    def options(self, request: ProviderRequest) -> JsonObject:
        """Returns: the options of the call as this wire names them."""
        names = {**_NAMES, **self.dialect.option_names}
        options = options_of(request)
        if self._is_marked(request):
            options.pop("cacheControl", None)
        return renamed(options, names, keep_unknown=self.dialect.keeps_unknown_options)

    def _is_marked(self, request: ProviderRequest) -> bool:
        is_marked = self.dialect.marks == "claude" and is_claude(request.model.api_model)
        return is_marked or self.dialect.marks == "all"

    def tool(self, tool: ToolDefinition) -> JsonObject:
        """Returns: a tool as it is offered."""
        function: JsonObject = {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.schema,
        }
        return {"type": "function", "function": function}

    def tool_choice(self, request: ProviderRequest) -> JsonValue:
        """Returns: whether some tool has to be called."""
        return request.tool_choice

    def messages(self, request: ProviderRequest) -> list[JsonValue]:
        """Returns: the system's text and the conversation."""
        system = request.system_text
        messages: list[JsonValue] = [{"role": "system", "content": system}] if system else []
        waiting: list[ToolResultMessage] = []
        for message in request.messages:
            if not isinstance(message, ToolResultMessage):
                messages += self.media_of_results(waiting)
                waiting = []
            messages += self.message(message, request)
            if isinstance(message, ToolResultMessage):
                waiting.append(message)
        messages += self.media_of_results(waiting)
        if self._is_marked(request) and (mark := cache_mark(options_of(request))):
            mark_for_cache((one for one in messages if isinstance(one, dict)), mark)
        return messages

    def message(self, message: Message, request: ProviderRequest) -> list[JsonValue]:
        """Returns: one message; files of tool results follow in one of their own."""
        match message:
            case UserMessage():
                return [{"role": "user", "content": self.user_content(message)}]
            case ToolResultMessage():
                return [self.tool_result(message)]
            case AssistantMessage():
                wire = self.assistant(message, request)
                # Of an answer that only its own vendor can read, nothing may be left.
                return [wire] if any(wire[name] for name in wire if name != "role") else []
        raise AssertionError(message)

    def user_content(self, message: UserMessage) -> JsonValue:
        """Returns: a plain text, or parts."""
        if len(message.content) == 1 and isinstance(message.content[0], Text):
            return message.content[0].text
        return [
            {"type": "text", "text": part.text} if isinstance(part, Text) else self.file(part)
            for part in message.content
        ]

    def file(self, file: File, *, fallback_name: str = "document.pdf") -> JsonObject:
        """Returns: a part with a picture or a document."""
        if file.is_image:
            return {"type": "image_url", "image_url": {"url": file.data_url}}
        name = file.name or fallback_name
        return {"type": "file", "file": {"filename": name, "file_data": file.data_url}}

    def tool_result(self, message: ToolResultMessage) -> JsonObject:
        """Returns: the answer to a call. That it is an error, this wire cannot say."""
        wire: JsonObject = {
            "role": "tool",
            "tool_call_id": message.call_id,
            "content": message.output,
        }
        return {**wire, "name": message.name} if self.dialect.names_results else wire

    def media_of_results(self, results: list[ToolResultMessage]) -> list[JsonValue]:
        """Returns: the files of results that stand together, which no tool message can hold."""
        files = [file for result in results for file in result.files]
        if not files:
            return []
        note: JsonValue = {"type": "text", "text": MEDIA_NOTE}
        return [{"role": "user", "content": [note, *(self.file(file) for file in files)]}]

    def assistant(self, message: AssistantMessage, request: ProviderRequest) -> JsonObject:
        """Returns: what the model has said, with its reasoning where the vendor wants it."""
        text = "".join(part.text for part in message.content if isinstance(part, Text))
        wire: JsonObject = {"role": "assistant", "content": text}
        wire.update(self.reasoning(message, request))
        calls = [part for part in message.content if isinstance(part, ToolCall)]
        if calls:
            wire["tool_calls"] = [self.call(call) for call in calls]
        return wire

    def call(self, call: ToolCall) -> JsonObject:
        """Returns: a call that the model has made."""
        function: JsonObject = {"name": call.name, "arguments": dump(call.arguments)}
        return {"id": call.id, "type": "function", "function": function}

    def reasoning(self, message: AssistantMessage, request: ProviderRequest) -> JsonObject:
        """Returns: the fields that carry the reasoning of a message."""
        thoughts = [part for part in message.content if isinstance(part, Reasoning)]
        text = "".join(part.text for part in thoughts)
        interleaved = request.model.capabilities.interleaved
        name = interleaved if isinstance(interleaved, str) else self.dialect.reasoning_field
        is_deepseek = "deepseek" in request.model.api_model.lower()
        is_always = self.dialect.always_reasoning or is_deepseek or bool(interleaved)
        return {name: text} if name and (text or is_always) else {}


class ChatDecoder(Decoder):
    """Reads `chat.completion.chunk`s of every dialect."""

    def __init__(self, usage: UsageDialect = "cached", billed: Billed = not_said) -> None:
        self.blocks = Blocks()
        self._dialect = usage
        self._reason: str | None = None
        self._is_done = False
        self._usage = Usage()
        self._read_billed = billed
        self._billed: Decimal | None = None
        self._tier = ""
        self._call: object = None

    def feed(self, frame: JsonObject) -> Iterator[StreamEvent]:
        """Yield the events of one chunk."""
        if frame is DONE:
            self._is_done = True
            return
        usage = frame.get("usage")
        if isinstance(usage, dict):
            self._usage = self.read_usage(usage)
            self._billed = self._read_billed(usage)
        if isinstance(tier := frame.get("service_tier"), str):
            self._tier = tier
        choices: Any = frame.get("choices") or ()
        for choice in choices[:1]:
            delta = choice.get("delta") or choice.get("message")
            if delta:
                yield from self.feed_delta(delta)
            if choice.get("finish_reason"):
                self._reason = str(choice["finish_reason"])

    def end(self) -> Iterator[StreamEvent]:
        """Yield what closes the stream."""
        if self._reason is None and not self._is_done:
            yield Failed(NetworkError(reason=ErrorReason.ANSWER_CUT))
            return
        if self._reason in _ERROR_REASONS:
            yield Failed(ServerError(reason=ErrorReason.STOPPED))
            return
        yield from self.close()
        reason = _REASONS.get(self._reason or "stop", FinishReason.UNKNOWN)
        yield from self.blocks.finish(reason, self._usage, self._billed, self._tier)

    def close(self) -> Iterator[StreamEvent]:
        """Yield what is still held back; for dialects that collect something to the end."""
        return iter(())

    def feed_delta(self, delta: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Yield the events of one delta."""
        yield from self.feed_reasoning(delta)
        if isinstance(content := delta.get("content"), str):
            yield from self.blocks.text(content)
        for call in delta.get("tool_calls") or ():
            yield from self._feed_call(call)

    def feed_reasoning(self, delta: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Yield the events of the reasoning in a delta."""
        for name in ("reasoning_content", "reasoning", "reasoning_text"):
            if isinstance(text := delta.get(name), str) and text:
                yield from self.blocks.reasoning(text)
                return

    def read_usage(self, usage: Mapping[str, Any]) -> Usage:
        """Split the counts so that no token is in two of them."""
        prompt = usage.get("prompt_tokens_details") or {}
        completion = usage.get("completion_tokens_details") or {}
        read = count_at(prompt, "cached_tokens") or count_at(usage, "prompt_cache_hit_tokens")
        written = count_at(prompt, "cache_write_tokens")
        reasoning = count_at(completion, "reasoning_tokens")
        if self._dialect != "cached":
            read = written = 0
        if self._dialect == "plain":
            reasoning = 0
        return Usage(
            input_tokens=max(0, count_at(usage, "prompt_tokens") - read - written),
            output_tokens=max(0, count_at(usage, "completion_tokens") - reasoning),
            reasoning_tokens=reasoning,
            cache_read_tokens=read,
            cache_write_tokens=written,
        )

    def _feed_call(self, call: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Some servers number every parallel call 0, and some repeat the id in every chunk."""
        function = call.get("function") or {}
        index, call_id = call.get("index"), call.get("id") or ""
        is_new = self._call is None or not self.blocks.is_open(self._call)
        if not is_new:
            opened = self._call[0] if isinstance(self._call, tuple) else None
            is_new = opened != index or bool(call_id and call_id != self.blocks.id_of(self._call))
        if is_new:
            yield from self.blocks.close_calls()
            self._call = (index, self.blocks.calls)
            yield from self.blocks.start_call(self._call, call_id, function.get("name") or "")
        yield from self.blocks.grow_call(self._call, function.get("arguments") or "")
