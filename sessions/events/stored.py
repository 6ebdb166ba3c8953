"""Messages, parts and questions as they stand in the JSON of their rows.

The models of the events check what is written there, so rows are read without a check.
What these take as it comes, such as the input of a tool call, can have any shape.
"""

from __future__ import annotations

from typing import Literal, NotRequired, Required, TypedDict

from opencode_web.lib.json import JsonObject, JsonValue


class StoredTime(TypedDict):
    """Units: milliseconds since the epoch. Without `end` it still goes on."""

    start: int
    end: NotRequired[int]
    compacted: NotRequired[int]


class StoredCache(TypedDict, total=False):
    read: int
    write: int


class StoredTokens(TypedDict, total=False):
    """Units: tokens. `input` excludes the cache, `output` excludes reasoning."""

    total: int
    input: int
    output: int
    reasoning: int
    cache: StoredCache


class StoredError(TypedDict):
    """`data` is as the provider or this server gave it."""

    name: str
    data: JsonObject


class StoredModel(TypedDict):
    providerID: str
    modelID: str
    variant: NotRequired[str]


class _Part(TypedDict):
    id: str
    sessionID: str
    messageID: str


class StoredText(_Part):
    type: Literal["text"]
    text: str
    synthetic: NotRequired[bool]
    ignored: NotRequired[bool]
    time: NotRequired[StoredTime]
    metadata: NotRequired[JsonObject]


class StoredReasoning(_Part):
    type: Literal["reasoning"]
    text: str
    time: StoredTime
    metadata: NotRequired[JsonObject]


class StoredFile(_Part):
    type: Literal["file"]
    mime: str
    url: str
    filename: NotRequired[str]
    source: NotRequired[JsonObject]
    refused: NotRequired[dict[str, str]]


class StoredAgent(_Part):
    type: Literal["agent"]
    name: str
    source: NotRequired[JsonObject]


class StoredSubtask(_Part):
    type: Literal["subtask"]
    prompt: str
    description: str
    agent: str
    model: NotRequired[StoredModel]
    command: NotRequired[str]


class StoredState(TypedDict, total=False):
    """The state of a tool call: `status` says which of the other keys there are."""

    status: Required[Literal["pending", "running", "completed", "error"]]
    input: JsonObject
    raw: str
    title: str
    output: str
    error: str
    metadata: JsonObject
    time: StoredTime
    attachments: list[StoredFile]


class StoredTool(_Part):
    type: Literal["tool"]
    callID: str
    tool: str
    state: StoredState
    metadata: NotRequired[JsonObject]


class StoredStepStart(_Part):
    type: Literal["step-start"]
    snapshot: NotRequired[str]
    plugins: NotRequired[list[JsonObject]]


class StoredStepFinish(_Part):
    type: Literal["step-finish"]
    reason: str
    snapshot: NotRequired[str]
    cost: float
    tokens: StoredTokens


class StoredSnapshot(_Part):
    type: Literal["snapshot"]
    snapshot: str


class StoredPatch(_Part):
    type: Literal["patch"]
    hash: str
    files: list[str]
    more: NotRequired[int]


class StoredRetry(_Part):
    type: Literal["retry"]
    attempt: int
    error: StoredError
    time: JsonObject
    fallback: NotRequired[StoredModel]


class StoredCompaction(_Part):
    type: Literal["compaction"]
    auto: bool
    overflow: NotRequired[bool]
    tail_start_id: NotRequired[str]


StoredPart = (
    StoredText
    | StoredReasoning
    | StoredFile
    | StoredAgent
    | StoredSubtask
    | StoredTool
    | StoredStepStart
    | StoredStepFinish
    | StoredSnapshot
    | StoredPatch
    | StoredRetry
    | StoredCompaction
)


class StoredMoments(TypedDict):
    """Units: milliseconds since the epoch."""

    created: int
    completed: NotRequired[int]


class StoredPath(TypedDict):
    cwd: str
    root: str


class StoredPrompt(TypedDict):
    """A user message. Imported ones can have any `summary`."""

    id: str
    sessionID: str
    role: Literal["user"]
    time: StoredMoments
    agent: str
    model: StoredModel
    system: NotRequired[str]
    tools: NotRequired[dict[str, bool]]
    format: NotRequired[JsonObject]
    summary: NotRequired[JsonObject]


class StoredAnswer(TypedDict):
    """An assistant message."""

    id: str
    sessionID: str
    role: Literal["assistant"]
    time: StoredMoments
    parentID: str
    modelID: str
    providerID: str
    mode: str
    agent: str
    path: StoredPath
    cost: NotRequired[float]
    tokens: NotRequired[StoredTokens]
    variant: NotRequired[str]
    finish: NotRequired[str]
    error: NotRequired[StoredError]
    summary: NotRequired[bool]
    structured: NotRequired[JsonValue]


StoredMessage = StoredPrompt | StoredAnswer


class StoredOption(TypedDict):
    label: str
    description: str


class StoredQuestion(TypedDict):
    question: str
    header: str
    options: list[StoredOption]
    multiple: NotRequired[bool]
