"""What an answer consists of while it comes: at most one open block of text, thinking or a call.

Decoders say what their wire brings; the events that follow from it, with everything opened closed
again in order, are made here.
"""

from __future__ import annotations

import uuid
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from .events import (
    Finished,
    FinishReason,
    ReasoningDelta,
    ReasoningEnd,
    StreamEvent,
    TextDelta,
    TextEnd,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from .json import JsonObject, parse_arguments
from .messages import Usage


@dataclass(slots=True)
class _Call:
    index: int
    id: str
    name: str
    raw: list[str] = field(default_factory=list)
    metadata: JsonObject | None = None


class Blocks:
    """State of one answer. Calls may come interleaved, told apart by the wire's own key."""

    def __init__(self) -> None:
        self.calls = 0
        self._is_text = False
        self._is_reasoning = False
        self._open: dict[Hashable, _Call] = {}

    def text(self, text: str) -> Iterator[StreamEvent]:
        """More text of the answer."""
        if text:
            yield from self.end_reasoning()
            yield from self.close_calls()
            self._is_text = True
            yield TextDelta(text)

    def end_text(self, metadata: JsonObject | None = None) -> Iterator[StreamEvent]:
        """The text is over. With metadata an empty one counts, too."""
        if self._is_text or metadata:
            if not self._is_text:
                yield TextDelta("")
            self._is_text = False
            yield TextEnd(metadata)

    def reasoning(self, text: str) -> Iterator[StreamEvent]:
        """More thinking; an empty text begins a block that may stay empty."""
        yield from self.end_text()
        yield from self.close_calls()
        self._is_reasoning = True
        yield ReasoningDelta(text)

    def end_reasoning(self, metadata: JsonObject | None = None) -> Iterator[StreamEvent]:
        """The thinking is over. With metadata a block counts that had no text."""
        if metadata and not self._is_reasoning:
            yield from self.reasoning("")
        if self._is_reasoning:
            self._is_reasoning = False
            yield ReasoningEnd(metadata)

    def start_call(self, key: Hashable, call_id: str, name: str) -> Iterator[StreamEvent]:
        """A call begins. Without an id of the vendor's it gets one."""
        yield from self.end_reasoning()
        yield from self.end_text()
        call = _Call(self.calls, call_id or f"call_{uuid.uuid4().hex}", name)
        self.calls += 1
        self._open[key] = call
        yield ToolCallStart(call.index, call.id, call.name)

    def grow_call(self, key: Hashable, arguments: str) -> Iterator[StreamEvent]:
        """More of the raw arguments of a call that has begun."""
        call = self._open.get(key)
        if call is not None and arguments:
            call.raw.append(arguments)
            yield ToolCallDelta(call.index, arguments)

    def end_call(self, key: Hashable, metadata: JsonObject | None = None) -> Iterator[StreamEvent]:
        """A call is complete."""
        call = self._open.pop(key, None)
        if call is not None:
            raw = "".join(call.raw)
            given = metadata or call.metadata
            yield ToolCallEnd(call.index, call.id, call.name, parse_arguments(raw), raw, given)

    def is_open(self, key: Hashable) -> bool:
        """Whether a call with this key has begun and not ended."""
        return key in self._open

    def id_of(self, key: Hashable) -> str:
        """Returns: the id of an open call."""
        return self._open[key].id

    def mark_call(self, key: Hashable, metadata: JsonObject) -> None:
        """Keep what the provider wants back with an open call."""
        self._open[key].metadata = metadata

    def close_calls(self) -> Iterator[StreamEvent]:
        """End all calls that are open."""
        for key in list(self._open):
            yield from self.end_call(key)

    def finish(
        self,
        reason: FinishReason,
        usage: Usage,
        billed: Decimal | None = None,
        tier: str = "",
    ) -> Iterator[StreamEvent]:
        """Close whatever is open, and end."""
        yield from self.end_reasoning()
        yield from self.end_text()
        yield from self.close_calls()
        if reason is FinishReason.STOP and self.calls:
            # Several servers say "stop" although they called tools.
            reason = FinishReason.TOOL_CALLS
        yield Finished(reason, usage, billed, tier)
