"""The answer of Converse: blocks of which only calls say that they begin.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStreamOutput.html
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator

from ..blocks import Blocks
from ..errors import NetworkError, ServerError
from ..events import Failed, FinishReason, StreamEvent
from ..json import JsonObject
from ..messages import Usage
from ..reasons import ErrorReason
from ..route import Decoder
from .fields import count_at, list_at, object_at, text_at

# What the vendor wants back is kept under this name.
VENDOR = "bedrock"
_REASONS = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "pause_turn": FinishReason.STOP,
    "tool_use": FinishReason.TOOL_CALLS,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "content_filtered": FinishReason.CONTENT_FILTER,
    "guardrail_intervened": FinishReason.CONTENT_FILTER,
    "refusal": FinishReason.CONTENT_FILTER,
}
_MALFORMED = frozenset({"malformed_model_output", "malformed_tool_use"})


class ConverseDecoder(Decoder):
    """Reads the events of one answer."""

    def __init__(self) -> None:
        self._blocks = Blocks()
        self._signature = ""
        self._redacted: list[str] = []
        self._reason = ""
        self._usage = Usage()
        self._tier = ""

    def feed(self, frame: JsonObject) -> Iterator[StreamEvent]:
        """Yield the events of one frame."""
        for kind in frame:
            event = object_at(frame, kind)
            key = str(event.get("contentBlockIndex"))
            match kind:
                case "contentBlockStart":
                    call = object_at(object_at(event, "start"), "toolUse")
                    if call:
                        call_id, name = text_at(call, "toolUseId"), text_at(call, "name")
                        yield from self._blocks.start_call(key, call_id, name)
                case "contentBlockDelta":
                    yield from self._grow(key, object_at(event, "delta"))
                case "contentBlockStop":
                    yield from self._stop(key)
                case "messageStop":
                    self._reason = text_at(event, "stopReason")
                case "metadata":
                    self._usage = _read_usage(object_at(event, "usage"))
                    self._tier = text_at(object_at(event, "serviceTier"), "type")

    def end(self) -> Iterator[StreamEvent]:
        """Yield what closes the stream."""
        if not self._reason:
            yield Failed(NetworkError(reason=ErrorReason.ANSWER_CUT))
            return
        if self._reason in _MALFORMED:
            yield Failed(ServerError("The model's answer was malformed."))
            return
        yield from self._blocks.end_reasoning(self._take_metadata())
        reason = _REASONS.get(self._reason, FinishReason.UNKNOWN)
        yield from self._blocks.finish(reason, self._usage, tier=self._tier)

    def _grow(self, key: str, delta: JsonObject) -> Iterator[StreamEvent]:
        yield from self._blocks.text(text_at(delta, "text"))
        yield from self._blocks.grow_call(key, text_at(object_at(delta, "toolUse"), "input"))
        thought = object_at(delta, "reasoningContent")
        if text := text_at(thought, "text"):
            yield from self._blocks.reasoning(text)
        self._signature += text_at(thought, "signature")
        if data := text_at(thought, "redactedContent"):
            self._redacted.append(data)

    def _stop(self, key: str) -> Iterator[StreamEvent]:
        if self._blocks.is_open(key):
            yield from self._blocks.end_call(key)
            return
        yield from self._blocks.end_reasoning(self._take_metadata())
        yield from self._blocks.end_text()

    def _take_metadata(self) -> JsonObject | None:
        signature, redacted = self._signature, self._redacted
        self._signature, self._redacted = "", []
        if redacted:
            return {VENDOR: {"redactedData": _joined(redacted)}}
        return {VENDOR: {"signature": signature}} if signature else None


def _joined(pieces: list[str]) -> str:
    """Each piece is base64 of its own, so that their texts cannot be put together."""
    if len(pieces) == 1:
        return pieces[0]
    try:
        data = b"".join(base64.b64decode(piece) for piece in pieces)
    except binascii.Error:
        return "".join(pieces)
    return base64.b64encode(data).decode()


def _read_usage(usage: JsonObject) -> Usage:
    details = [one for one in list_at(usage, "cacheDetails") if isinstance(one, dict)]
    return Usage(
        input_tokens=count_at(usage, "inputTokens"),
        output_tokens=count_at(usage, "outputTokens"),
        cache_read_tokens=count_at(usage, "cacheReadInputTokens"),
        cache_write_tokens=count_at(usage, "cacheWriteInputTokens"),
        cache_write_hour_tokens=sum(
            count_at(one, "inputTokens") for one in details if one.get("ttl") == "1h"
        ),
    )
