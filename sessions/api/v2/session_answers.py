"""What the routes of sessions of the second version answer."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypeAliasType, TypedDict

from opencode_web.lib.json import JsonObject
from opencode_web.lib.shapes import Unchecked
from sessions.stream.reverted import RevertV2
from sessions.wire import PromptAgent, PromptFile


class ModelName(TypedDict):
    id: str
    providerID: str
    variant: NotRequired[str]


class CacheTokensV2(TypedDict):
    read: int
    write: int


class TokensV2(TypedDict):
    input: int
    output: int
    reasoning: int
    cache: CacheTokensV2


class SessionTimeV2(TypedDict):
    """Units: milliseconds since 1970."""

    created: int
    updated: int
    archived: NotRequired[int | None]


class Folder(TypedDict):
    directory: str


class SessionV2(TypedDict):
    id: str
    parentID: NotRequired[str | None]
    projectID: str
    agent: NotRequired[str | None]
    model: NotRequired[Annotated[JsonObject, Unchecked(ModelName)] | None]
    title: str
    cost: float
    tokens: Annotated[JsonObject, Unchecked(TokensV2)]
    time: SessionTimeV2
    location: Folder
    subpath: NotRequired[str | None]
    revert: NotRequired[RevertV2 | None]


class MessageTimeV2(TypedDict):
    created: int
    completed: NotRequired[int]


class UserMessageV2(TypedDict):
    id: str
    type: Literal["user"]
    time: MessageTimeV2
    text: str
    files: NotRequired[list[PromptFile]]
    agents: NotRequired[list[PromptAgent]]


class TextV2(TypedDict):
    type: Literal["text"]
    id: str
    text: str


class ReasoningV2(TypedDict):
    type: Literal["reasoning"]
    id: str
    text: str
    time: MessageTimeV2


class CallTime(TypedDict):
    created: int
    ran: NotRequired[int]
    completed: NotRequired[int]
    pruned: NotRequired[int]


class CallPending(TypedDict):
    status: Literal["pending"]
    input: str


class CallContent(TypedDict):
    type: Literal["text"]
    text: str


class _Call(TypedDict):
    input: JsonObject
    structured: JsonObject
    content: list[CallContent]


class CallRunning(_Call):
    status: Literal["running"]


class CallCompleted(_Call):
    status: Literal["completed"]
    attachments: NotRequired[list[PromptFile]]


class Failure(TypedDict):
    type: Literal["unknown"]
    message: str


class CallFailed(_Call):
    status: Literal["error"]
    error: Failure


class CallV2(TypedDict):
    type: Literal["tool"]
    id: str
    name: str
    state: CallPending | CallRunning | CallCompleted | CallFailed
    time: CallTime


class AssistantMessageV2(TypedDict):
    id: str
    type: Literal["assistant"]
    time: MessageTimeV2
    agent: str
    model: ModelName
    content: list[Annotated[TextV2 | ReasoningV2 | CallV2, Field(discriminator="type")]]
    finish: NotRequired[str]
    cost: NotRequired[float]
    tokens: NotRequired[TokensV2]
    error: NotRequired[Failure]


class CompactionV2(TypedDict):
    id: str
    type: Literal["compaction"]
    time: MessageTimeV2
    reason: Literal["auto", "manual"]
    summary: str
    recent: str


MessageV2 = TypeAliasType(
    "MessageV2",
    Annotated[
        UserMessageV2 | AssistantMessageV2 | CompactionV2,
        Field(discriminator="type", description="One of three, told apart by `type`."),
    ],
)


class DurableAt(TypedDict):
    aggregateID: str
    seq: int
    version: int


class DurableEvent(TypedDict):
    id: str
    type: str
    durable: DurableAt
    data: JsonObject


class History(TypedDict):
    data: list[Annotated[JsonObject, Unchecked(DurableEvent)]]
    hasMore: bool
    last: int


class CallSource(TypedDict):
    type: Literal["tool"]
    messageID: str
    callID: str


class PermissionV2(TypedDict):
    id: str
    sessionID: str
    action: str
    resources: list[str]
    save: list[str]
    metadata: JsonObject
    source: CallSource


class SavedPermission(TypedDict):
    id: str
    projectID: str
    action: str
    resource: str


class OptionV2(TypedDict):
    label: str
    description: str


class AskedV2(TypedDict):
    question: str
    header: str
    options: list[OptionV2]
    multiple: NotRequired[bool]
    custom: NotRequired[bool]


class QuestionV2(TypedDict):
    id: str
    sessionID: str
    questions: list[Annotated[JsonObject, Unchecked(AskedV2)]]
