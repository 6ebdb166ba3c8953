"""Neutral shapes of one request to a model. No provider's wire format leaks in here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from opencode_web.lib.json import JsonObject
from providers.facts import Capabilities, Cost, Limit, Price, PriceTier, ProviderKind
from providers.secret import Secret

__all__ = [
    "AssistantContent",
    "AssistantMessage",
    "Capabilities",
    "Cost",
    "Image",
    "Limit",
    "Message",
    "ModelRef",
    "Price",
    "PriceTier",
    "ProviderKind",
    "ProviderRequest",
    "Reasoning",
    "ResolvedModel",
    "Secret",
    "SystemMessage",
    "Text",
    "ToolCall",
    "ToolDefinition",
    "ToolResultMessage",
    "Usage",
    "UserMessage",
]

ToolChoice = Literal["auto", "required", "none"]


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text."""

    text: str


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


@dataclass(frozen=True, slots=True)
class Image:
    """A picture as a base64 data: URL."""

    mime: str
    data_url: str


AssistantContent = Text | Reasoning | ToolCall


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What a person (or the system on their behalf) said."""

    content: tuple[Text | Image, ...]


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
    is_error: bool
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class SystemMessage:
    """An instruction in mid-conversation; it must stay at its place in the order."""

    text: str


Message = UserMessage | AssistantMessage | ToolResultMessage | SystemMessage


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as offered to the model; `schema` is JSON Schema of its parameters."""

    name: str
    description: str
    schema: JsonObject


@dataclass(frozen=True, slots=True)
class Usage:
    """Units: tokens. `input` excludes the cache, `output` excludes reasoning."""

    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

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
class ResolvedModel:
    """What to call, where, and with what. `api_model` is the id the provider knows."""

    ref: ModelRef
    kind: ProviderKind
    api_model: str
    base_url: str | None
    api_key: Secret
    name: str
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    options: JsonObject = field(default_factory=dict)
    limit: Limit = field(default_factory=Limit)
    cost: Cost = field(default_factory=Cost)
    capabilities: Capabilities = field(default_factory=Capabilities)
    idle_timeout_s: float | None = None


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
    max_output_tokens: int | None = None
    tool_choice: ToolChoice = "auto"
