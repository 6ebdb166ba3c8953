"""Neutral shapes of one request to a model. No provider's wire format leaks in here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from .facts import Capabilities, Cost, Limit
from .json import JsonObject
from .secret import Secret

ToolChoice = Literal["auto", "required", "none"]
Purpose = Literal["turn", "title", "compaction"]


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text. `metadata` is what a provider wants back with its own text, unchanged."""

    text: str
    metadata: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The model's thinking. `metadata` is what its provider wants back with it, unchanged."""

    text: str
    metadata: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the model asked for."""

    id: str
    name: str
    arguments: JsonObject
    metadata: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class File:
    """A picture or a document as a base64 data: URL. `key` is the caller's own name of it."""

    mime: str
    data_url: str
    name: str = ""
    key: str = ""

    @property
    def kind(self) -> str:
        """What a model has to be able to read: image, pdf, audio, video or text."""
        return "pdf" if self.mime == "application/pdf" else self.mime.partition("/")[0]

    @property
    def is_image(self) -> bool:
        """Whether it is a picture."""
        return self.kind == "image"

    @property
    def base64(self) -> str:
        """Its bytes without what a data: URL says before them."""
        return self.data_url.partition(",")[2]


AssistantContent = Text | Reasoning | ToolCall


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What a person (or the system on their behalf) said."""

    content: tuple[Text | File, ...]


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What the model said in one turn, in order."""

    content: tuple[AssistantContent, ...]


@dataclass(frozen=True, slots=True)
class ToolResultMessage:
    """The answer to one tool call."""

    call_id: str
    name: str
    output: str
    is_error: bool = False
    files: tuple[File, ...] = ()


@dataclass(frozen=True, slots=True)
class SystemMessage:
    """An instruction in mid-conversation; it must stay at its place in the order."""

    text: str


Message = UserMessage | AssistantMessage | ToolResultMessage | SystemMessage


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as offered to the model; `schema` is JSON Schema of its parameters.

    `fits_exactly`: whoever calls it is held to the schema, by vendors that can do that.
    """

    name: str
    description: str
    schema: JsonObject
    fits_exactly: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Units: tokens. `input` excludes the cache, `output` excludes reasoning.

    `cache_write_hour_tokens` are those of `cache_write_tokens` that are kept for an hour.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_hour_tokens: int = 0

    @property
    def prompt_tokens(self) -> int:
        """Everything the model read, cached or not."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    @property
    def total_tokens(self) -> int:
        """Everything read and written."""
        return self.prompt_tokens + self.output_tokens + self.reasoning_tokens


@dataclass(frozen=True, slots=True)
class ModelRef:
    """A model as people and clients name it."""

    provider_id: str
    model_id: str
    variant: str | None = None

    def __str__(self) -> str:
        return f"{self.provider_id}/{self.model_id}"


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Units: seconds. Until the headers are there, between two pieces of the answer, and in all."""

    connect: float = 30.0
    header: float | None = None
    idle: float | None = None
    total: float | None = None


@dataclass(frozen=True, slots=True)
class ResolvedModel:
    """What to call, where, and with what. `api_model` is the id the provider knows.

    `npm` names the adapter, as the catalog does. `options` are options of the request in the
    vocabulary of opencode.json; `connection` says where an account is (a region, a project);
    `secrets` are what a cloud wants beside or instead of one key.
    """

    ref: ModelRef
    npm: str
    api_model: str
    base_url: str | None
    api_key: Secret
    name: str
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    options: JsonObject = field(default_factory=dict)
    limit: Limit = field(default_factory=Limit)
    cost: Cost = field(default_factory=Cost)
    capabilities: Capabilities = field(default_factory=Capabilities)
    connection: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, Secret] = field(default_factory=dict)
    timeouts: Timeouts = field(default_factory=Timeouts)

    @property
    def other_name(self) -> str | None:
        """What its provider calls it, where the settings call it something else."""
        return self.api_model if self.api_model != self.ref.model_id else None


@dataclass(frozen=True, slots=True)
class ProviderRequest:
    """One provider turn. Everything a stream needs; nothing is looked up later."""

    model: ResolvedModel
    system: tuple[str, ...]
    messages: tuple[Message, ...]
    tools: tuple[ToolDefinition, ...]
    session_id: str
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_output_tokens: int | None = None
    tool_choice: ToolChoice = "auto"
    # What the call is for; a title gets none of the defaults of its model's family.
    purpose: Purpose = "turn"
    parent_session_id: str = ""
    prompt_id: str = ""
    project_id: str = ""

    @property
    def system_text(self) -> str:
        """The system's texts as one, as most wires want it."""
        return "\n".join(text for text in self.system if text)

    @property
    def files(self) -> Iterator[File]:
        """Every file of the conversation, those of tool results too."""
        for message in self.messages:
            if isinstance(message, ToolResultMessage):
                yield from message.files
            elif isinstance(message, UserMessage):
                yield from (part for part in message.content if isinstance(part, File))
