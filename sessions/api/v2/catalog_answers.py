"""What the catalogs of the second version answer, for `/doc`."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict
from pydantic.json_schema import SkipJsonSchema

from opencode_web.lib.json import JsonValue


class _Shape(BaseModel):
    model_config = ConfigDict(extra="allow")


_Text = str | SkipJsonSchema[None]


class HealthV2(_Shape):
    healthy: Literal[True]


class ModelName(_Shape):
    id: str
    providerID: str
    variant: _Text = None


class ExtraOfRequest(_Shape):
    headers: dict[str, str]
    body: dict[str, JsonValue]


class AgentRule(_Shape):
    action: str
    resource: str
    effect: Literal["allow", "ask", "deny"]


class AgentV2(_Shape):
    id: str
    mode: Literal["subagent", "primary", "all"]
    hidden: bool
    request: ExtraOfRequest
    permissions: list[AgentRule]
    model: ModelName | SkipJsonSchema[None] = None
    description: _Text = None
    system: _Text = None
    color: _Text = None
    steps: int | SkipJsonSchema[None] = None


class CommandV2(_Shape):
    name: str
    template: str
    description: _Text = None
    agent: _Text = None
    model: ModelName | SkipJsonSchema[None] = None
    subtask: bool | SkipJsonSchema[None] = None


class SkillV2(_Shape):
    name: str
    description: _Text = None
    location: str
    content: str


class FolderOfReference(_Shape):
    type: Literal["local"]
    path: str
    description: _Text = None


class ReferenceV2(_Shape):
    name: str
    path: str
    description: _Text = None
    source: FolderOfReference


class Entry(_Shape):
    path: str
    type: Literal["file", "directory"]


class KeyMethod(_Shape):
    type: Literal["key"]
    label: str


class PromptOption(_Shape):
    label: str
    value: str
    hint: _Text = None


class PromptWhen(_Shape):
    key: str
    op: Literal["eq", "neq"]
    value: str


class TextPrompt(_Shape):
    type: Literal["text"]
    key: str
    message: str
    placeholder: _Text = None
    when: PromptWhen | SkipJsonSchema[None] = None


class SelectPrompt(_Shape):
    type: Literal["select"]
    key: str
    message: str
    options: list[PromptOption]
    when: PromptWhen | SkipJsonSchema[None] = None


class OAuthMethod(_Shape):
    id: str
    type: Literal["oauth"]
    label: str
    prompts: list[TextPrompt | SelectPrompt] | SkipJsonSchema[None] = None


class AttemptTime(_Shape):
    created: int
    expires: int


class Attempt(_Shape):
    attemptID: str
    url: str
    instructions: str
    mode: Literal["auto", "code"]
    time: AttemptTime


class AttemptStatus(_Shape):
    status: Literal["pending", "complete", "failed", "expired"]
    message: _Text = None
    time: AttemptTime


class KeyOfTeam(_Shape):
    type: Literal["credential"]
    id: str
    label: str


class Integration(_Shape):
    id: str
    name: str
    methods: list[KeyMethod | OAuthMethod]
    connections: list[KeyOfTeam]


class ProviderApiV2(_Shape):
    type: Literal["aisdk"]
    package: str
    url: str


class ProviderV2(_Shape):
    id: str
    integrationID: str
    name: str
    api: ProviderApiV2
    request: ExtraOfRequest


class ModelApiV2(ProviderApiV2):
    id: str


class CapabilitiesV2(_Shape):
    tools: bool
    input: list[str]
    output: list[str]


class VariantV2(ExtraOfRequest):
    id: str


class Released(_Shape):
    released: int
    """Units: milliseconds since 1970; 0 when nobody knows."""


class CacheCost(_Shape):
    read: float
    write: float


class CostV2(_Shape):
    """Units: USD for a million tokens."""

    input: float
    output: float
    cache: CacheCost


class LimitV2(_Shape):
    """Units: tokens."""

    context: int
    input: int | SkipJsonSchema[None] = None
    output: int


class ModelV2(_Shape):
    id: str
    providerID: str
    family: _Text = None
    name: str
    api: ModelApiV2
    capabilities: CapabilitiesV2
    request: ExtraOfRequest
    variants: list[VariantV2]
    time: Released
    cost: list[CostV2]
    status: Literal["alpha", "beta", "deprecated", "active"]
    enabled: bool
    limit: LimitV2
