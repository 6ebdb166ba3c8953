"""What clients send. Unknown keys are ignored: clients of other versions send more."""

from __future__ import annotations

import json
from mimetypes import guess_type
from typing import Annotated, Literal

from ninja import Field, Schema
from pydantic import AfterValidator, RootModel

from opencode_web.lib.json import JsonObject
from providers.llm.messages import ModelRef
from sessions.wire import Variant
from tools.permissions.rules import MAX_PATTERN_CHARS

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
    variant: Variant = Field(default=None, max_length=100)

    def to_json(self) -> JsonObject:
        return self.model_dump(exclude_none=True)


class PermissionRule(Schema):
    """One rule of a session, after those of its agent. The last one that matches decides."""

    permission: str = Field(max_length=100)
    pattern: str = Field(max_length=MAX_PATTERN_CHARS)
    action: Literal["allow", "ask", "deny"]


class SessionCreate(Schema):
    """All optional: without a title one is made from the first prompt.

    `worktree` and `branch` are this server's own: whether the session works in a git worktree and
    branch of its own, and the branch of the project that it starts from. `commit` is the commit to
    start from, and `ref` the branch or tag of the remote repository that has it, such as
    refs/heads/main; it is fetched where the server has not got the commit. So is `private`: whether
    only you and the admins of the team see it, from the start.
    """

    parentID: str | None = None
    title: str | None = Field(default=None, max_length=10_000)
    agent: str | None = Field(default=None, max_length=60)
    model: SessionModel | None = None
    metadata: Extra | None = None
    permission: list[PermissionRule] = Field(default_factory=list, max_length=500)
    worktree: bool | None = None
    branch: str = Field(default="", max_length=250)
    commit: str = Field(default="", pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})?$", max_length=64)
    ref: str = Field(default="", max_length=250)
    private: bool = False


class SessionTime(Schema):
    """Units: milliseconds since the epoch; 0 brings an archived session back."""

    archived: int | None = Field(default=None, ge=0, le=253_402_300_799_000)


class SessionPatch(Schema):
    """Only what is given changes."""

    title: str | None = Field(default=None, max_length=10_000)
    metadata: Extra | None = None
    permission: list[PermissionRule] | None = Field(default=None, max_length=500)
    time: SessionTime = Field(default_factory=SessionTime)


class PromptModel(Schema):
    """The model of one prompt."""

    providerID: str = Field(max_length=100)
    modelID: str = Field(max_length=200)

    def ref(self) -> ModelRef:
        return ModelRef(self.providerID, self.modelID)


class SummarizeBody(Schema):
    """Which model writes the summary. With `auto` the agent goes on afterwards."""

    providerID: str = Field(max_length=100)
    modelID: str = Field(max_length=200)
    auto: bool = False


class CompactBody(Schema):
    """Which model writes the summary; without one, the session's."""

    providerID: str | None = Field(default=None, max_length=100)
    modelID: str | None = Field(default=None, max_length=200)

    def ref(self) -> ModelRef | None:
        if self.providerID is None or self.modelID is None:
            return None
        return ModelRef(self.providerID, self.modelID)


class InitBody(Schema):
    """Who writes the instructions of the project."""

    messageID: str | None = None
    providerID: str | None = Field(default=None, max_length=100)
    modelID: str | None = Field(default=None, max_length=200)

    def ref(self) -> ModelRef | None:
        return CompactBody(providerID=self.providerID, modelID=self.modelID).ref()


class ShellBody(Schema):
    """A shell line, run in the sandbox as the agent's would be, but for asking."""

    messageID: str | None = None
    agent: str | None = Field(default=None, max_length=60)
    model: PromptModel | None = None
    command: str = Field(min_length=1, max_length=100_000)


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
    variant: Variant = Field(default=None, max_length=100)
    delivery: Literal["steer", "queue"] = "steer"
    parts: list[dict[str, object]] = Field(max_length=200)

    def ref(self) -> ModelRef | None:
        if self.model is None:
            return None
        return ModelRef(self.model.providerID, self.model.modelID, self.variant)


class CommandBody(Schema):
    """A command, as `/command arguments` says it. `model` is `provider/model`."""

    messageID: str | None = None
    agent: str | None = Field(default=None, max_length=60)
    model: str | None = Field(default=None, max_length=300)
    variant: Variant = Field(default=None, max_length=100)
    command: str = Field(max_length=200)
    arguments: str = ""
    delivery: Literal["steer", "queue"] = "steer"
    parts: list[dict[str, object]] = Field(default_factory=list, max_length=200)


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


class RevertFileBody(Schema):
    """A changed file of the turn of a prompt, by its name in the turn's diffs."""

    messageID: str
    file: str


class FileBody(Schema):
    """A file that was put back."""

    file: str


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


class SequenceNumbers(RootModel[dict[str, Annotated[int, Field(ge=0, le=2**62)]]]):
    """For each session the newest `seq` that is known; at most 100 sessions."""

    root: Annotated[dict[str, Annotated[int, Field(ge=0, le=2**62)]], Field(max_length=100)]


class ProjectIcon(Schema):
    """How clients draw a project: a picture as a data: URL, or a colour."""

    url: str | None = Field(default=None, max_length=64 * 1024)
    override: str | None = Field(default=None, max_length=64 * 1024)
    color: str | None = Field(default=None, max_length=60)
