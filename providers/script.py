"""The JSON form of a script for the scripted provider. `testing.py` plays it."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from providers.llm.events import FinishReason


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ReasoningEvent(_Strict):
    """The model thinks."""

    reasoning: str


class TextEvent(_Strict):
    """The model says something."""

    text: str


class ToolEvent(_Strict):
    """The model calls a tool."""

    tool: str
    input: dict[str, JsonValue] = {}


class RawToolEvent(_Strict):
    """The model calls a tool with arguments that need not be JSON."""

    tool: str
    raw: str


class DelayEvent(_Strict):
    """Nothing comes for a while."""

    delay_ms: Annotated[int, Field(ge=0, le=600_000)]


class ErrorAnswer(_Strict):
    """An answer of the provider with an error status."""

    status: Annotated[int, Field(ge=400, le=599)]
    message: str
    retry_after_s: float | None = None


class ErrorEvent(_Strict):
    """The provider fails here."""

    error: ErrorAnswer


class CutEvent(_Strict):
    """The connection breaks here."""

    cut: bool


ScriptEvent = (
    ReasoningEvent | TextEvent | ToolEvent | RawToolEvent | DelayEvent | ErrorEvent | CutEvent
)


class ScriptUsage(_Strict):
    """Units: tokens, as `Usage`."""

    input: int = 0
    output: int = 0
    reasoning: int = 0
    cache_read: int = 0
    cache_write: int = 0


class Step(_Strict):
    """One answer of the model."""

    events: tuple[ScriptEvent, ...]
    chunk_chars: Annotated[int, Field(ge=1)] | None = None
    """Characters in one delta; without it a text comes in one."""
    chunk_delay_ms: Annotated[int, Field(ge=0, le=60_000)] = 0
    """Wait before each delta."""
    usage: ScriptUsage | None = None
    """Without it, estimated from the request and the answer."""
    finish: FinishReason | None = None
    """Without it, tool-calls or stop."""
    needs: str = ""
    """What the newest tool result has to contain, or else it counts as an error."""
    if_error: tuple[ScriptEvent, ...] | None = None
    """Played instead when the newest tool result is an error."""


class Script(_Strict):
    """A whole script."""

    name: str = "script"
    about: tuple[str, ...] = ()
    """Beginnings of words. The turns begin with the first prompt that has one; others before it get
    `otherwise`. Without any, they begin with the first prompt."""
    title: str | None = None
    """The answer to a request that offers no tools, such as the one for a session's title."""
    summary: Step | None = None
    """The answer to the one for a summary of the conversation; `title` goes before it."""
    turns: tuple[tuple[Step, ...], ...]
    """One list of steps for each user message."""
    otherwise: tuple[Step, ...] = ()
    """The steps of every user message past the last turn."""
