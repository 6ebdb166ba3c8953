"""The answer of Messages: blocks that begin, grow and end.

Source: https://platform.claude.com/docs/en/build-with-claude/streaming
"""

from __future__ import annotations

from collections.abc import Iterator

from ..blocks import Blocks
from ..errors import NetworkError
from ..events import Failed, FinishReason, StreamEvent
from ..framing import StreamError
from ..json import JsonObject, dump
from ..messages import Usage
from ..reasons import ErrorReason
from ..route import Decoder
from .fields import count_at, object_at, text_at

# What the vendor wants back is kept under this name.
VENDOR = "anthropic"
_REASONS = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "pause_turn": FinishReason.STOP,
    "tool_use": FinishReason.TOOL_CALLS,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "refusal": FinishReason.CONTENT_FILTER,
}
_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)
_HOUR = "ephemeral_1h_input_tokens"


class MessagesDecoder(Decoder):
    """Reads the events of one answer. Blocks of tools that run at the vendor are passed over."""

    def __init__(self) -> None:
        self._blocks = Blocks()
        self._kinds: dict[str, str] = {}
        # Arguments that came with the beginning of a call; what follows counts more.
        self._inputs: dict[str, JsonObject] = {}
        self._signature = ""
        self._reason = ""
        self._is_done = False
        self._counts: dict[str, int] = {}
        self._speed = ""

    def feed(self, frame: JsonObject) -> Iterator[StreamEvent]:
        """Yield the events of one frame."""
        key = str(frame.get("index"))
        match frame.get("type"):
            case "message_start":
                self._count(object_at(object_at(frame, "message"), "usage"))
            case "content_block_start":
                yield from self._start(key, object_at(frame, "content_block"))
            case "content_block_delta":
                yield from self._grow(key, object_at(frame, "delta"))
            case "content_block_stop":
                yield from self._stop(key)
            case "message_delta":
                self._count(object_at(frame, "usage"))
                self._reason = text_at(object_at(frame, "delta"), "stop_reason") or self._reason
            case "message_stop":
                self._is_done = True
            case "error":
                raise StreamError(frame)

    def end(self) -> Iterator[StreamEvent]:
        """Yield what closes the stream."""
        if not self._reason and not self._is_done:
            yield Failed(NetworkError(reason=ErrorReason.ANSWER_CUT))
            return
        reason = _REASONS.get(self._reason or "end_turn", FinishReason.UNKNOWN)
        yield from self._blocks.finish(reason, self._usage(), tier=self._speed)

    def _start(self, key: str, block: JsonObject) -> Iterator[StreamEvent]:
        kind = self._kinds[key] = text_at(block, "type")
        if kind == "text":
            yield from self._blocks.text(text_at(block, "text"))
        elif kind == "thinking":
            yield from self._blocks.end_reasoning()
            self._signature = text_at(block, "signature")
            yield from self._blocks.reasoning(text_at(block, "thinking"))
        elif kind == "redacted_thinking":
            yield from self._blocks.end_reasoning()
            data = text_at(block, "data")
            yield from self._blocks.end_reasoning({VENDOR: {"redactedData": data}})
        elif kind == "tool_use":
            self._inputs[key] = object_at(block, "input")
            call_id, name = text_at(block, "id"), text_at(block, "name")
            yield from self._blocks.start_call(key, call_id, name)

    def _grow(self, key: str, delta: JsonObject) -> Iterator[StreamEvent]:
        match delta.get("type"):
            case "text_delta":
                yield from self._blocks.text(text_at(delta, "text"))
            case "thinking_delta":
                yield from self._blocks.reasoning(text_at(delta, "thinking"))
            case "signature_delta":
                self._signature = text_at(delta, "signature")
            case "input_json_delta":
                arguments = text_at(delta, "partial_json")
                if arguments:
                    self._inputs.pop(key, None)
                yield from self._blocks.grow_call(key, arguments)

    def _stop(self, key: str) -> Iterator[StreamEvent]:
        kind = self._kinds.pop(key, "")
        if kind == "text":
            yield from self._blocks.end_text()
        elif kind == "thinking":
            signed: JsonObject = {VENDOR: {"signature": self._signature}}
            yield from self._blocks.end_reasoning(signed if self._signature else None)
            self._signature = ""
        elif kind == "tool_use":
            if arguments := self._inputs.pop(key, None):
                yield from self._blocks.grow_call(key, dump(arguments))
            yield from self._blocks.end_call(key)

    def _count(self, usage: JsonObject) -> None:
        """Later numbers replace earlier ones; some servers begin with zeros and some end so."""
        for name in _COUNTS:
            self._counts[name] = count_at(usage, name) or self._counts.get(name, 0)
        created = object_at(usage, "cache_creation")
        self._counts[_HOUR] = count_at(created, _HOUR) or self._counts.get(_HOUR, 0)
        # Its service tiers are contracts; the price of a token depends on the speed alone.
        self._speed = text_at(usage, "speed") or self._speed

    def _usage(self) -> Usage:
        return Usage(
            input_tokens=self._counts.get("input_tokens", 0),
            output_tokens=self._counts.get("output_tokens", 0),
            cache_read_tokens=self._counts.get("cache_read_input_tokens", 0),
            cache_write_tokens=self._counts.get("cache_creation_input_tokens", 0),
            cache_write_hour_tokens=self._counts.get(_HOUR, 0),
        )
