"""What a provider stream yields, whichever provider it comes from.

A stream is any number of deltas and then exactly one `Finished` or `Failed`. Every `ToolCallStart`
that is not followed by a failure gets its `ToolCallEnd` before `Finished`.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from .errors import ProviderError
from .json import JsonObject
from .messages import Usage


class FinishReason(StrEnum):
    """Why the model stopped."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool-calls"
    CONTENT_FILTER = "content-filter"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class TextEnd:
    """A text is over; `metadata` belongs into `Text.metadata`."""

    metadata: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More thinking."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningEnd:
    """The thinking block is over; `metadata` belongs into `Reasoning.metadata`."""

    metadata: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """A tool call begins; its arguments follow."""

    index: int
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """More of the raw JSON arguments of the call at `index`."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallEnd:
    """A call is complete. `arguments` is None when `raw` is not a JSON object."""

    index: int
    id: str
    name: str
    arguments: JsonObject | None
    raw: str
    metadata: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """The model came to an end."""

    reason: FinishReason
    usage: Usage
    # What the provider itself has billed, where it says so. Units: USD.
    billed: Decimal | None = None
    # The service tier or speed that it says it has answered with.
    tier: str = ""

    @property
    def is_counted(self) -> bool:
        """Whether the provider has said what the answer has used."""
        return bool(self.usage.total_tokens) or self.billed is not None


@dataclass(frozen=True, slots=True)
class Failed:
    """The provider or the way to it failed; what came before stays valid.

    `is_free`: it was refused before the model began, so nothing is billed.
    """

    error: ProviderError
    is_free: bool = False


StreamEvent = (
    TextDelta
    | TextEnd
    | ReasoningDelta
    | ReasoningEnd
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd
    | Finished
    | Failed
)
