"""Cohere's chat, version 2: close to Chat Completions in what is sent, with events of its own.

Source: https://docs.cohere.com/reference/chat-stream; what is sent was recorded from OpenCode's
requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..blocks import Blocks
from ..errors import NetworkError, ServerError
from ..events import Failed, FinishReason, StreamEvent
from ..framing import StreamError
from ..json import JsonObject, JsonValue
from ..messages import (
    AssistantMessage,
    File,
    ProviderRequest,
    Text,
    ToolCall,
    Usage,
    UserMessage,
)
from ..options import options_of
from ..reasons import ErrorReason
from ..route import Decoder
from .chat import Chat, Dialect
from .fields import count_at

_CHOICES = {"required": "REQUIRED", "none": "NONE"}
_OPTIONS = ("safety_mode", "seed", "priority")
_REASONS = {
    "COMPLETE": FinishReason.STOP,
    "STOP_SEQUENCE": FinishReason.STOP,
    "MAX_TOKENS": FinishReason.LENGTH,
    "TOOL_CALL": FinishReason.TOOL_CALLS,
    "ERROR_TOXIC": FinishReason.CONTENT_FILTER,
    "USER_CANCEL": FinishReason.UNKNOWN,
}


class Cohere(Chat):
    """What is sent. Thinking is never sent back, and no text beside calls."""

    def __init__(self) -> None:
        super().__init__(Dialect(reasoning_field=None, usage_on_demand=False, joins_prompts=False))

    def encode(self, request: ProviderRequest) -> JsonObject:
        """Returns: the body."""
        body = super().encode(request)
        body.pop("tool_choice", None)
        if request.tools and request.tool_choice in _CHOICES:
            body["tool_choice"] = _CHOICES[request.tool_choice]
        return body

    def decoder(self, request: ProviderRequest) -> Decoder:
        """Returns: a reader of the answer."""
        return CohereDecoder()

    def controls(self, request: ProviderRequest) -> JsonObject:
        """Returns: the limit of the answer and how it is sampled."""
        controls = super().controls(request)
        if "top_p" in controls:
            controls["p"] = controls.pop("top_p")
        if request.top_k is not None:
            controls["k"] = request.top_k
        return controls

    def options(self, request: ProviderRequest) -> JsonObject:
        """Returns: how it thinks, and what the wire calls by the same name."""
        given = options_of(request)
        options: JsonObject = {name: given[name] for name in _OPTIONS if name in given}
        thinking = given.get("thinking")
        if isinstance(thinking, dict):
            names = {"tokenBudget": "token_budget"}
            options["thinking"] = {names.get(key, key): one for key, one in thinking.items()}
        return options

    def user_content(self, message: UserMessage) -> JsonValue:
        """Returns: one text, or parts when there are pictures."""
        if any(isinstance(part, File) for part in message.content):
            return super().user_content(message)
        return "".join(part.text for part in message.content if isinstance(part, Text))

    def assistant(self, message: AssistantMessage, request: ProviderRequest) -> JsonObject:
        """Returns: calls or a text, not both."""
        calls: list[JsonValue] = [
            self.call(part) for part in message.content if isinstance(part, ToolCall)
        ]
        if calls:
            return {"role": "assistant", "tool_calls": calls}
        text = "".join(part.text for part in message.content if isinstance(part, Text))
        return {"role": "assistant", "content": text}


class CohereDecoder(Decoder):
    """Reads the events of one answer; each carries a piece of a message in `delta`."""

    def __init__(self) -> None:
        self._blocks = Blocks()
        self._reason: str | None = None
        self._usage = Usage()

    def feed(self, frame: JsonObject) -> Iterator[StreamEvent]:
        """Yield the events of one frame."""
        event: Mapping[str, Any] = frame
        delta = event.get("delta") or {}
        message = delta.get("message") or {}
        match event.get("type"):
            case "content-start" | "content-delta":
                yield from self._feed_content(message.get("content") or {})
            case "content-end":
                yield from self._blocks.end_reasoning()
                yield from self._blocks.end_text()
            case "tool-call-start" | "tool-call-delta" as kind:
                yield from self._feed_call(event, message.get("tool_calls") or {}, kind)
            case "tool-call-end":
                yield from self._blocks.end_call(_key(event))
            case "message-end":
                if error := delta.get("error"):
                    raise StreamError({"message": str(error), "type": "server_error"})
                self._reason = str(delta.get("finish_reason") or "COMPLETE")
                self._usage = _usage(delta.get("usage") or {})

    def end(self) -> Iterator[StreamEvent]:
        """Yield what closes the stream."""
        if self._reason is None:
            yield Failed(NetworkError(reason=ErrorReason.ANSWER_CUT))
        elif self._reason in {"ERROR", "TIMEOUT", "ERROR_LIMIT"}:
            yield Failed(
                ServerError(f"The provider stopped with an error of its own: {self._reason}.")
            )
        else:
            reason = _REASONS.get(self._reason, FinishReason.UNKNOWN)
            yield from self._blocks.finish(reason, self._usage)

    def _feed_content(self, content: Mapping[str, Any]) -> Iterator[StreamEvent]:
        if isinstance(thinking := content.get("thinking"), str) and thinking:
            yield from self._blocks.reasoning(thinking)
        if isinstance(text := content.get("text"), str):
            yield from self._blocks.text(text)

    def _feed_call(
        self, event: Mapping[str, Any], call: Mapping[str, Any], kind: str
    ) -> Iterator[StreamEvent]:
        function = call.get("function") or {}
        if kind == "tool-call-start":
            call_id, name = str(call.get("id") or ""), str(function.get("name") or "")
            yield from self._blocks.start_call(_key(event), call_id, name)
        yield from self._blocks.grow_call(_key(event), str(function.get("arguments") or ""))


def _key(event: Mapping[str, Any]) -> str:
    return str(event.get("index"))


def _usage(usage: Mapping[str, Any]) -> Usage:
    tokens = usage.get("tokens") or usage.get("billed_units") or {}
    return Usage(
        input_tokens=count_at(tokens, "input_tokens"),
        output_tokens=count_at(tokens, "output_tokens"),
    )
