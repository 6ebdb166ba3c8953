"""What the routes of sessions of the second version answer, for `/doc`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel
from pydantic.json_schema import SkipJsonSchema

from opencode_web.lib.json import JsonValue
from sessions.api.v2.catalog_answers import ModelName


class _Shape(BaseModel):
    model_config = ConfigDict(extra="allow")


_Text = str | SkipJsonSchema[None]


class CacheTokensV2(_Shape):
    read: int
    write: int


class TokensV2(_Shape):
    input: int
    output: int
    reasoning: int
    cache: CacheTokensV2


class SessionTimeV2(_Shape):
    """Units: milliseconds since 1970."""

    created: int
    updated: int
    archived: int | SkipJsonSchema[None] = None


class Folder(_Shape):
    directory: str


class RevertedFile(_Shape):
    path: str
    status: Literal["added", "modified", "deleted"]
    additions: int
    deletions: int
    patch: str


class RevertV2(_Shape):
    messageID: str
    partID: _Text = None
    snapshot: _Text = None
    diff: _Text = None
    files: list[RevertedFile]


class SessionV2(_Shape):
    id: str
    parentID: _Text = None
    projectID: str
    agent: _Text = None
    model: ModelName | SkipJsonSchema[None] = None
    title: str
    cost: float
    tokens: TokensV2
    time: SessionTimeV2
    location: Folder
    subpath: _Text = None
    revert: RevertV2 | SkipJsonSchema[None] = None


class MessageTimeV2(_Shape):
    created: int
    completed: int | SkipJsonSchema[None] = None


class PromptFile(_Shape):
    uri: str
    mime: str
    name: _Text = None


class PromptAgent(_Shape):
    name: str


class UserMessageV2(_Shape):
    id: str
    type: Literal["user"]
    time: MessageTimeV2
    text: str
    files: list[PromptFile] | SkipJsonSchema[None] = None
    agents: list[PromptAgent] | SkipJsonSchema[None] = None


class TextV2(_Shape):
    type: Literal["text"]
    id: str
    text: str


class ReasoningV2(_Shape):
    type: Literal["reasoning"]
    id: str
    text: str
    time: MessageTimeV2


class CallTime(_Shape):
    created: int
    ran: int | SkipJsonSchema[None] = None
    completed: int | SkipJsonSchema[None] = None
    pruned: int | SkipJsonSchema[None] = None


class CallPending(_Shape):
    status: Literal["pending"]
    input: str


class CallContent(_Shape):
    type: Literal["text"]
    text: str


class CallRunning(_Shape):
    status: Literal["running"]
    input: dict[str, JsonValue]
    structured: dict[str, JsonValue]
    content: list[CallContent]


class CallCompleted(CallRunning):
    status: Literal["completed"]  # type: ignore[assignment]  # another word in the same place
    attachments: list[PromptFile] | SkipJsonSchema[None] = None


class Failure(_Shape):
    type: Literal["unknown"]
    message: str


class CallFailed(CallRunning):
    status: Literal["error"]  # type: ignore[assignment]  # as above
    error: Failure


class CallV2(_Shape):
    type: Literal["tool"]
    id: str
    name: str
    state: CallPending | CallRunning | CallCompleted | CallFailed
    time: CallTime


class AssistantMessageV2(_Shape):
    id: str
    type: Literal["assistant"]
    time: MessageTimeV2
    agent: str
    model: ModelName
    content: list[Annotated[TextV2 | ReasoningV2 | CallV2, Field(discriminator="type")]]
    finish: _Text = None
    cost: float | SkipJsonSchema[None] = None
    tokens: TokensV2 | SkipJsonSchema[None] = None
    error: Failure | SkipJsonSchema[None] = None


class CompactionV2(_Shape):
    id: str
    type: Literal["compaction"]
    time: MessageTimeV2
    reason: Literal["auto", "manual"]
    summary: str
    recent: str


class MessageV2(
    RootModel[
        Annotated[UserMessageV2 | AssistantMessageV2 | CompactionV2, Field(discriminator="type")]
    ]
):
    """One of three, told apart by `type`."""


class DurableAt(_Shape):
    aggregateID: str
    seq: int
    version: int


class DurableEvent(_Shape):
    id: str
    type: str
    durable: DurableAt
    data: dict[str, JsonValue]


class History(_Shape):
    data: list[DurableEvent]
    hasMore: bool
    last: int


class CallSource(_Shape):
    type: Literal["tool"]
    messageID: str
    callID: str


class PermissionV2(_Shape):
    id: str
    sessionID: str
    action: str
    resources: list[str]
    save: list[str]
    metadata: dict[str, JsonValue]
    source: CallSource


class SavedPermission(_Shape):
    id: str
    projectID: str
    action: str
    resource: str


class OptionV2(_Shape):
    label: str
    description: str


class AskedV2(_Shape):
    question: str
    header: str
    options: list[OptionV2]
    multiple: bool | SkipJsonSchema[None] = None
    custom: bool | SkipJsonSchema[None] = None


class QuestionV2(_Shape):
    id: str
    sessionID: str
    questions: list[AskedV2]
