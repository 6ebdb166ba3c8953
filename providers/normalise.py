"""Chunks of a provider's stream to our events.

A chunk is Chat Completions' shape as a dict (sse.py) or as litellm's ModelResponseStream, or a dict
with `is_finished`, of which litellm's Anthropic reader sends two empty ones between any two chunks.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from opencode_web.lib.json import JsonObject, read_json
from providers.errors import NetworkError, ServerError
from providers.events import (
    Failed,
    Finished,
    FinishReason,
    ReasoningDelta,
    ReasoningEnd,
    StreamEvent,
    TextDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from providers.messages import Usage

_REASONS = {
    "stop": FinishReason.STOP,
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "tool_calls": FinishReason.TOOL_CALLS,
    "tool_use": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "content_filter": FinishReason.CONTENT_FILTER,
    "refusal": FinishReason.CONTENT_FILTER,
}
_ERROR_REASONS = frozenset({"error", "network_error"})


@dataclass(slots=True)
class _OpenCall:
    index: int
    id: str
    name: str
    raw: list[str] = field(default_factory=list)


class Normaliser:
    """State of one stream. Feed it chunks, then ask it for the end."""

    def __init__(self) -> None:
        self._reasoning_open = False
        self._call: _OpenCall | None = None
        self._calls = 0
        self._wire_index: int | None = None
        self._reason: str | None = None
        self._is_done = False
        self._usage = Usage()

    def feed(self, chunk: Any) -> Iterator[StreamEvent]:  # untyped: see the module's docstring
        """Yield the events of one chunk; often none."""
        fields = fields_of(chunk)
        if "is_finished" in fields:
            self._is_done = self._is_done or bool(fields["is_finished"])
            return
        usage = fields.get("usage")
        if usage is not None:
            self._usage = read_usage(usage)
        for choice in (fields.get("choices") or ())[:1]:
            parts = fields_of(choice)
            if parts.get("delta") is not None:
                yield from self._feed_delta(fields_of(parts["delta"]))
            if parts.get("finish_reason"):
                self._reason = str(parts["finish_reason"])

    def end(self) -> Iterator[StreamEvent]:
        """Yield what closes the stream: open blocks, then `Finished` or `Failed`."""
        if self._reason is None and not self._is_done:
            yield Failed(NetworkError("The provider's answer ended in the middle."))
            return
        if self._reason in _ERROR_REASONS:
            yield Failed(ServerError("The provider stopped with an error of its own."))
            return
        yield from self._close_blocks()
        reason = _REASONS.get(self._reason or "stop", FinishReason.UNKNOWN)
        if reason is FinishReason.STOP and self._calls:
            # Several servers say "stop" although they called tools.
            reason = FinishReason.TOOL_CALLS
        yield Finished(reason, self._usage)

    def _feed_delta(self, delta: Mapping[str, Any]) -> Iterator[StreamEvent]:
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(reasoning, str) and reasoning:
            yield from self._close_call()
            self._reasoning_open = True
            yield ReasoningDelta(reasoning)
        for block in delta.get("thinking_blocks") or ():
            yield from self._feed_signature(block)
        if content := delta.get("content"):
            yield from self._close_blocks()
            yield TextDelta(str(content))
        for call in delta.get("tool_calls") or ():
            yield from self._feed_call(fields_of(call))

    def _feed_signature(self, block: Any) -> Iterator[StreamEvent]:
        """Anthropic: the text came as reasoning; its signature comes here."""
        facts: JsonObject | None = None
        if block.get("type") == "redacted_thinking":
            yield from self._close_blocks()
            yield ReasoningDelta("")
            facts = {"redactedData": block.get("data")}
        elif block.get("signature"):
            if not self._reasoning_open:
                # A model that hides its thinking still signs it, and wants the empty block back.
                yield ReasoningDelta("")
            facts = {"signature": block["signature"]}
        if facts is not None:
            self._reasoning_open = False
            yield ReasoningEnd({"anthropic": facts})

    def _feed_call(self, call: Mapping[str, Any]) -> Iterator[StreamEvent]:
        function = fields_of(call.get("function") or {})
        if self._is_new_call(call):
            yield from self._close_blocks()
            self._wire_index = call.get("index")
            call_id = call.get("id") or f"call_{uuid.uuid4().hex}"
            self._call = _OpenCall(self._calls, call_id, function.get("name") or "")
            self._calls += 1
            yield ToolCallStart(self._call.index, self._call.id, self._call.name)
        if self._call is not None and (arguments := function.get("arguments")):
            self._call.raw.append(arguments)
            yield ToolCallDelta(self._call.index, arguments)

    def _is_new_call(self, call: Mapping[str, Any]) -> bool:
        """Some servers number every parallel call 0, and some repeat the id in every chunk."""
        if self._call is None or call.get("index") != self._wire_index:
            return True
        return bool(call.get("id")) and call["id"] != self._call.id

    def _close_blocks(self) -> Iterator[StreamEvent]:
        if self._reasoning_open:
            self._reasoning_open = False
            yield ReasoningEnd()
        yield from self._close_call()

    def _close_call(self) -> Iterator[StreamEvent]:
        if self._call is not None:
            call, self._call = self._call, None
            raw = "".join(call.raw)
            yield ToolCallEnd(call.index, call.id, call.name, parse_arguments(raw), raw)


def parse_arguments(raw: str) -> JsonObject | None:
    """Returns: the arguments; an empty object for no text; None when it is not a JSON object."""
    if not raw.strip():
        return {}
    try:
        value = read_json(raw)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def read_usage(usage: Any) -> Usage:  # a dict or litellm's object
    """Split the counts so that no token is in two of them."""
    fields = fields_of(usage)
    prompt = fields_of(fields.get("prompt_tokens_details") or {})
    completion = fields_of(fields.get("completion_tokens_details") or {})
    read = _count(prompt, "cached_tokens") or _count(fields, "cache_read_input_tokens")
    written = _count(prompt, "cache_creation_tokens") or _count(
        fields, "cache_creation_input_tokens"
    )
    reasoning = _count(completion, "reasoning_tokens")
    return Usage(
        input_tokens=max(0, _count(fields, "prompt_tokens") - read - written),
        output_tokens=max(0, _count(fields, "completion_tokens") - reasoning),
        reasoning_tokens=reasoning,
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


def fields_of(thing: Any) -> Mapping[str, Any]:  # a dict or a pydantic object
    """Return what is set. Asking pydantic for an absent attribute costs ten times a look-up."""
    if isinstance(thing, dict):
        return thing
    fields: dict[str, Any] = thing.__dict__
    extra = thing.__pydantic_extra__
    return {**fields, **extra} if extra else fields


def _count(fields: Mapping[str, Any], name: str) -> int:
    value = fields.get(name)
    return max(0, value) if isinstance(value, int) else 0
