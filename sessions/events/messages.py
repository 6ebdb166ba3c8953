"""Messages as they stand in the log, in the rows and on the wire. Field names are the wire's.

Source: UserMessage and AssistantMessage of OpenCode's HTTP API.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from opencode_web.lib.json import JsonObject, JsonValue


class Frozen(BaseModel):
    """Stored or sent: immutable, and nothing unknown slips in."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def to_json(self) -> JsonObject:
        """Returns: the wire shape; optional fields that are not set are absent, never null."""
        return self.model_dump(mode="json", exclude_none=True)


# Milliseconds since the epoch, up to the last year that a calendar of Python has.
Ms = Annotated[int, Field(ge=0, le=253_402_300_799_000)]


class CacheTokens(Frozen):
    read: int = 0
    write: int = 0


class Tokens(Frozen):
    """Units: tokens. `input` excludes the cache, `output` excludes reasoning."""

    total: int | None = None
    input: int = 0
    output: int = 0
    reasoning: int = 0
    cache: CacheTokens = CacheTokens()


class MessageModel(Frozen):
    providerID: str
    modelID: str
    variant: str | None = None


class MessageTime(Frozen):
    """Units: milliseconds since the epoch."""

    created: Ms
    completed: Ms | None = None


class MessagePath(Frozen):
    cwd: str
    root: str


# The error of an answer that reached the model's limit for one answer.
CUT_AT_LENGTH = "MessageOutputLengthError"


class MessageError(Frozen):
    """`name` is one of the wire's: ProviderAuthError, MessageAbortedError, APIError, …"""

    name: str
    data: JsonObject


class UserMessage(Frozen):
    id: str
    sessionID: str
    role: Literal["user"] = "user"
    time: MessageTime
    agent: str
    model: MessageModel
    system: str | None = None
    tools: dict[str, bool] | None = None
    format: JsonObject | None = None
    summary: JsonObject | None = None


class AssistantMessage(Frozen):
    id: str
    sessionID: str
    role: Literal["assistant"] = "assistant"
    time: MessageTime
    parentID: str
    modelID: str
    providerID: str
    mode: str
    agent: str
    path: MessagePath
    # USD as a float on the wire; the session's total is the exact Decimal.
    cost: float = 0
    tokens: Tokens = Tokens()
    variant: str | None = None
    finish: str | None = None
    error: MessageError | None = None
    summary: bool | None = None
    structured: JsonValue | None = None


MessageInfo = Annotated[UserMessage | AssistantMessage, Field(discriminator="role")]
