"""Parts of messages as they stand in the log, in the rows and on the wire.

Field names are the wire's.
Source: the `Part` types of OpenCode's HTTP API.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

from pydantic import Field, TypeAdapter

from opencode_web.lib.json import JsonObject
from opencode_web.lib.marks import defuse
from sessions.events.messages import Frozen, MessageError, Ms, Tokens

_FRAMES = ("shell_metadata",)


class PartTime(Frozen):
    """Units: milliseconds since the epoch."""

    start: Ms
    end: Ms | None = None


class DoneTime(PartTime):
    """`compacted`: when the model got a placeholder in place of the output, to make room."""

    compacted: Ms | None = None


class _Part(Frozen):
    id: str
    sessionID: str
    messageID: str


class TextPart(_Part):
    type: Literal["text"] = "text"
    text: str
    synthetic: bool | None = None
    ignored: bool | None = None
    time: PartTime | None = None
    metadata: JsonObject | None = None


class ReasoningPart(_Part):
    type: Literal["reasoning"] = "reasoning"
    text: str
    time: PartTime
    metadata: JsonObject | None = None


class FilePart(_Part):
    type: Literal["file"] = "file"
    mime: str
    url: str
    filename: str | None = None
    source: JsonObject | None = None
    # Why it is left out for some models, by `provider/model`: what they read in its place.
    refused: dict[str, str] | None = None


class AgentPart(_Part):
    type: Literal["agent"] = "agent"
    name: str
    source: JsonObject | None = None


class PartModel(Frozen):
    """The model that a part names."""

    providerID: str
    modelID: str


class SubtaskPart(_Part):
    """What a person gives to a sub-agent. The turn begins with it, before the model is asked."""

    type: Literal["subtask"] = "subtask"
    prompt: str
    description: str
    agent: str
    model: PartModel | None = None
    command: str | None = None


class ToolPending(Frozen):
    """Not started, or waiting for a person (then `input` is filled)."""

    status: Literal["pending"] = "pending"
    input: JsonObject = {}
    raw: str = ""


class ToolRunning(Frozen):
    """Started: from here on it may have had effects and must never be repeated."""

    status: Literal["running"] = "running"
    input: JsonObject
    title: str | None = None
    metadata: JsonObject | None = None
    time: PartTime


class ToolCompleted(Frozen):
    status: Literal["completed"] = "completed"
    input: JsonObject
    output: str
    title: str
    metadata: JsonObject
    time: DoneTime
    attachments: list[FilePart] | None = None


class ToolFailed(Frozen):
    status: Literal["error"] = "error"
    input: JsonObject
    error: str
    metadata: JsonObject | None = None
    time: PartTime

    @property
    def result(self) -> str:
        """What the model reads: the error, below the output that a stopped command had by then."""
        output = (self.metadata or {}).get("output")
        if not isinstance(output, str) or not output.strip():
            return self.error
        output = defuse(output.rstrip(), _FRAMES)
        return f"{output}\n\n<shell_metadata>\n{self.error}\n</shell_metadata>"


ToolState = Annotated[
    ToolPending | ToolRunning | ToolCompleted | ToolFailed, Field(discriminator="status")
]


class ToolPart(_Part):
    type: Literal["tool"] = "tool"
    callID: str
    tool: str
    state: ToolState
    metadata: JsonObject | None = None


class StepStartPart(_Part):
    """`snapshot`: the worktree before the first change of the step, once it makes one. `plugins`:
    what plugins did to the request, as {path, hook, did, why?}."""

    type: Literal["step-start"] = "step-start"
    snapshot: str | None = None
    plugins: list[JsonObject] | None = None


class StepFinishPart(_Part):
    type: Literal["step-finish"] = "step-finish"
    reason: str
    snapshot: str | None = None
    cost: float
    tokens: Tokens


class SnapshotPart(_Part):
    """The worktree after a step that was cut off, as a tree of the shadow repository."""

    type: Literal["snapshot"] = "snapshot"
    snapshot: str


class PatchPart(_Part):
    """Of very many files the first are named, and `more` says how many there are beside them."""

    type: Literal["patch"] = "patch"
    hash: str
    files: list[str]
    more: int | None = None


class RetryPart(_Part):
    type: Literal["retry"] = "retry"
    attempt: int
    error: MessageError
    time: JsonObject
    # Set when no further try was made with this model: another one went on.
    fallback: PartModel | None = None


class CompactionPart(_Part):
    """Asks for a summary of what came before its message. `auto`: the work then goes on.

    `overflow`: the provider had refused the request as too long. From the message `tail_start_id`
    on the history is kept verbatim.
    """

    type: Literal["compaction"] = "compaction"
    auto: bool
    overflow: bool | None = None
    tail_start_id: str | None = None


AnyPart = Annotated[
    TextPart
    | ReasoningPart
    | FilePart
    | AgentPart
    | SubtaskPart
    | ToolPart
    | StepStartPart
    | StepFinishPart
    | SnapshotPart
    | PatchPart
    | RetryPart
    | CompactionPart,
    Field(discriminator="type"),
]

PART: TypeAdapter[AnyPart] = TypeAdapter(cast(Any, AnyPart))  # see events/types.py
