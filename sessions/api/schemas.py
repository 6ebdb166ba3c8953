"""What clients send. Unknown keys are ignored: clients of other versions send more."""

from __future__ import annotations

import json
from mimetypes import guess_type
from typing import Annotated, Literal

from ninja import Field, Schema
from pydantic import AfterValidator

from opencode_web.lib.json import JsonObject
from providers.messages import ModelRef
from tools.permissions import MAX_PATTERN_CHARS

# Units: bytes of JSON. What a session or prompt carries along is copied into each of its events.
MAX_EXTRA_BYTES = 64 * 1024


def _bounded(value: dict[str, object]) -> dict[str, object]:
    if len(json.dumps(value, ensure_ascii=False).encode()) > MAX_EXTRA_BYTES:
        raise ValueError(f"has at most {MAX_EXTRA_BYTES // 1024} KiB")
    return value


Extra = Annotated[dict[str, object], AfterValidator(_bounded)]


class SessionModel(Schema):
    """The model of a session."""

    id: str = Field(max_length=200)
    providerID: str = Field(max_length=100)
    variant: str | None = Field(default=None, max_length=100)

    def to_json(self) -> JsonObject:
        return self.model_dump(exclude_none=True)


class PermissionRule(Schema):
    """One rule of a session, after those of its agent. The last one that matches decides."""

    permission: str = Field(max_length=100)
    pattern: str = Field(max_length=MAX_PATTERN_CHARS)
    action: Literal["allow", "ask", "deny"]


class SessionCreate(Schema):
    """All optional: without a title one is made from the first prompt."""

    parentID: str | None = None
    title: str | None = Field(default=None, max_length=10_000)
    agent: str | None = Field(default=None, max_length=60)
    model: SessionModel | None = None
    metadata: Extra | None = None
    permission: list[PermissionRule] = Field(default_factory=list, max_length=500)


class SessionTime(Schema):
    """Units: milliseconds since the epoch; 0 brings an archived session back."""

    archived: int | None = Field(default=None, ge=0, le=253_402_300_799_000)


class SessionPatch(Schema):
    """Only what is given changes."""

    title: str | None = Field(default=None, max_length=10_000)
    metadata: Extra | None = None
    permission: list[PermissionRule] | None = Field(default=None, max_length=500)
    time: SessionTime = SessionTime()


class PromptModel(Schema):
    """The model of one prompt."""

    providerID: str = Field(max_length=100)
    modelID: str = Field(max_length=200)


class SummarizeBody(Schema):
    """Which model writes the summary. With `auto` the agent goes on afterwards."""

    providerID: str = Field(max_length=100)
    modelID: str = Field(max_length=200)
    auto: bool = False


class PromptBody(Schema):
    """A prompt. `messageID` makes a retry safe; `delivery` says what happens while a turn runs."""

    messageID: str | None = None
    model: PromptModel | None = None
    agent: str | None = Field(default=None, max_length=60)
    noReply: bool = False
    tools: dict[Annotated[str, Field(max_length=100)], bool] | None = Field(
        default=None, max_length=500
    )
    format: Extra | None = None
    system: str | None = Field(default=None, max_length=MAX_EXTRA_BYTES)
    variant: str | None = Field(default=None, max_length=100)
    delivery: Literal["steer", "queue"] = "steer"
    parts: list[dict[str, object]] = Field(max_length=200)

    def ref(self) -> ModelRef | None:
        if self.model is None:
            return None
        return ModelRef(self.model.providerID, self.model.modelID, self.variant)


class PromptFile(Schema):
    """A file of a prompt in the second version of the API."""

    uri: str
    name: str | None = Field(default=None, max_length=500)


class PromptAgent(Schema):
    """An agent that the prompt mentions."""

    name: str = Field(max_length=60)


class PromptInput(Schema):
    """A prompt in the second version of the API."""

    text: str
    files: list[PromptFile] = Field(default_factory=list, max_length=100)
    agents: list[PromptAgent] = Field(default_factory=list, max_length=100)


class AdmitBody(Schema):
    """A prompt that is only admitted; with `resume` false not even the session is woken."""

    id: str | None = None
    prompt: PromptInput
    delivery: Literal["steer", "queue"] = "steer"
    resume: bool = True

    def parts(self) -> list[JsonObject]:
        files: list[JsonObject] = [
            {
                "type": "file",
                "url": file.uri,
                "mime": guess_type(file.uri)[0] or "text/plain",
                **({"filename": file.name} if file.name else {}),
            }
            for file in self.prompt.files
        ]
        agents: list[JsonObject] = [
            {"type": "agent", "name": agent.name} for agent in self.prompt.agents
        ]
        return [{"type": "text", "text": self.prompt.text}, *files, *agents]


class InputPatch(Schema):
    """Only what is given changes. `revision` is the one that was read."""

    revision: int = Field(ge=0)
    text: str | None = None
    delivery: Literal["steer", "queue"] | None = None


class InputOrder(Schema):
    """Every prompt that waits, in the wanted order."""

    ids: list[Annotated[str, Field(max_length=60)]] = Field(max_length=10_000)


class RevertBody(Schema):
    """Where a rollback begins; with a part, its answer is kept up to there."""

    messageID: str
    partID: str | None = None


class ForkBody(Schema):
    """Where the copy ends: before this message; without one it has all of them."""

    messageID: str | None = None


class ImportBody(Schema):
    """An exported session."""

    info: dict[str, object]
    messages: list[object]


class PermissionReply(Schema):
    """An answer to a permission request. A message with `reject` goes to the agent."""

    reply: Literal["once", "always", "reject"]
    message: str = Field(default="", max_length=10_000)


class PermissionResponse(Schema):
    """The older form of the answer."""

    response: Literal["once", "always", "reject"]


class QuestionReply(Schema):
    """For each question the chosen labels, or what somebody wrote."""

    answers: list[Annotated[list[str], Field(max_length=100)]] = Field(max_length=100)
