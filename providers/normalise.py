"""Chunks of litellm's streams to our events.

A chunk is one of: litellm's ModelResponseStream, the OpenAI SDK's ChatCompletionChunk (the same
attributes), or a dict with `is_finished`, of which litellm's Anthropic reader sends two empty ones
between any two real chunks.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from opencode_web.lib.json import JsonObject
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
        if isinstance(chunk, dict):
            self._is_done = self._is_done or bool(chunk.get("is_finished"))
            return
        usage = getattr(chunk, "usage", None)
        if usage is not None:
            self._usage = read_usage(usage)
        for choice in chunk.choices[:1]:
            yield from self._feed_delta(choice.delta)
            if choice.finish_reason:
                self._reason = str(choice.finish_reason)

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

    def _feed_delta(self, delta: Any) -> Iterator[StreamEvent]:
        reasoning = getattr(delta, "reasoning_content", None) or getattr(delta, "reasoning", None)
        if reasoning:
            yield from self._close_call()
            self._reasoning_open = True
            yield ReasoningDelta(str(reasoning))
        for block in getattr(delta, "thinking_blocks", None) or ():
            yield from self._feed_signature(block)
        if delta.content:
            yield from self._close_blocks()
            yield TextDelta(delta.content)
        for call in delta.tool_calls or ():
            yield from self._feed_call(call)

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

    def _feed_call(self, call: Any) -> Iterator[StreamEvent]:
        function = call.function
        if self._is_new_call(call):
            yield from self._close_blocks()
            self._wire_index = call.index
            self._call = _OpenCall(
                self._calls,
                call.id or f"call_{uuid.uuid4().hex}",
                (function and function.name) or "",
            )
            self._calls += 1
            yield ToolCallStart(self._call.index, self._call.id, self._call.name)
        if self._call is not None and function is not None and function.arguments:
            self._call.raw.append(function.arguments)
            yield ToolCallDelta(self._call.index, function.arguments)

    def _is_new_call(self, call: Any) -> bool:
        """Some servers number every parallel call 0, and some repeat the id in every chunk."""
        if self._call is None or call.index != self._wire_index:
            return True
        return bool(call.id) and call.id != self._call.id

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
        value = json.loads(raw)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def read_usage(usage: Any) -> Usage:  # litellm's or the SDK's object
    """Split the counts so that no token is in two of them."""
    prompt = getattr(usage, "prompt_tokens_details", None)
    completion = getattr(usage, "completion_tokens_details", None)
    read = _count(prompt, "cached_tokens") or _count(usage, "cache_read_input_tokens")
    written = _count(prompt, "cache_creation_tokens") or _count(
        usage, "cache_creation_input_tokens"
    )
    reasoning = _count(completion, "reasoning_tokens")
    return Usage(
        input_tokens=max(0, _count(usage, "prompt_tokens") - read - written),
        output_tokens=max(0, _count(usage, "completion_tokens") - reasoning),
        reasoning_tokens=reasoning,
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


def _count(source: Any, name: str) -> int:
    value = getattr(source, name, None)
    return value if isinstance(value, int) else 0
