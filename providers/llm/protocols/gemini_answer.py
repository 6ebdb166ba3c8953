"""Gemini's answers, as they are streamed.

Source: https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..blocks import Blocks
from ..errors import NetworkError, ServerError
from ..events import Failed, FinishReason, StreamEvent
from ..json import JsonObject, dump
from ..messages import Usage
from ..reasons import ErrorReason
from ..route import Decoder
from .fields import count_at

_REASONS = {
    "STOP": FinishReason.STOP,
    "MAX_TOKENS": FinishReason.LENGTH,
    **dict.fromkeys(
        ("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
         "MODEL_ARMOR", "IMAGE_SAFETY", "IMAGE_RECITATION", "IMAGE_PROHIBITED_CONTENT"),
        FinishReason.CONTENT_FILTER,
    ),
}  # fmt: skip
# The model has written something that the API could not read; the next try often is better.
_SPOILED = frozenset(
    {"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL",
     "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE"}
)  # fmt: skip


class GeminiDecoder(Decoder):
    """Reads the chunks of `streamGenerateContent`."""

    def __init__(self) -> None:
        self._blocks = Blocks()
        self._reason: str | None = None
        self._is_refused = False
        self._usage = Usage()

    def feed(self, frame: JsonObject) -> Iterator[StreamEvent]:
        """Yield the events of one chunk."""
        chunk: Mapping[str, Any] = frame
        if usage := chunk.get("usageMetadata"):
            self._usage = _usage(usage)
        if (chunk.get("promptFeedback") or {}).get("blockReason"):
            self._is_refused = True
        for candidate in (chunk.get("candidates") or [])[:1]:
            for part in (candidate.get("content") or {}).get("parts") or ():
                yield from self._feed_part(part)
            if candidate.get("finishReason"):
                self._reason = str(candidate["finishReason"])

    def end(self) -> Iterator[StreamEvent]:
        """Yield what closes the stream."""
        if self._reason in _SPOILED:
            yield Failed(ServerError(f"The model's answer could not be read: {self._reason}."))
        elif self._reason is not None:
            reason = _REASONS.get(self._reason, FinishReason.UNKNOWN)
            yield from self._blocks.finish(reason, self._usage)
        elif self._is_refused:
            yield from self._blocks.finish(FinishReason.CONTENT_FILTER, self._usage)
        else:
            yield Failed(NetworkError(reason=ErrorReason.ANSWER_CUT))

    def _feed_part(self, part: Mapping[str, Any]) -> Iterator[StreamEvent]:
        signature = part.get("thoughtSignature")
        metadata: JsonObject | None = None
        if isinstance(signature, str) and signature:
            metadata = {"google": {"thoughtSignature": signature}}
        if call := part.get("functionCall"):
            yield from self._feed_call(call, metadata)
        elif not isinstance(text := part.get("text"), str):
            return
        elif part.get("thought"):
            if text:
                yield from self._blocks.reasoning(text)
            if metadata:
                yield from self._blocks.end_text()
                yield from self._blocks.end_reasoning(metadata)
        else:
            yield from self._blocks.text(text)
            if metadata:
                # What is signed ends here: nothing may be added to it.
                yield from self._blocks.end_reasoning()
                yield from self._blocks.end_text(metadata)

    def _feed_call(
        self, call: Mapping[str, Any], metadata: JsonObject | None
    ) -> Iterator[StreamEvent]:
        """A call comes whole, and ids of the vendor's are not sent back."""
        key = self._blocks.calls
        yield from self._blocks.start_call(key, "", str(call.get("name") or ""))
        yield from self._blocks.grow_call(key, dump(call.get("args") or {}))
        yield from self._blocks.end_call(key, metadata)


def _usage(counts: Mapping[str, Any]) -> Usage:
    read = count_at(counts, "cachedContentTokenCount")
    prompt = count_at(counts, "promptTokenCount") + count_at(counts, "toolUsePromptTokenCount")
    return Usage(
        input_tokens=max(0, prompt - read),
        output_tokens=count_at(counts, "candidatesTokenCount"),
        reasoning_tokens=count_at(counts, "thoughtsTokenCount"),
        cache_read_tokens=read,
    )
