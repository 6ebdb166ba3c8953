"""What the routes answer about agents, providers, models, commands and projects, for `/doc`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict
from pydantic.json_schema import SkipJsonSchema

from opencode_web.lib.json import JsonValue
from sessions.api.schemas import PermissionRule, ProjectIcon

_Text = str | SkipJsonSchema[None]
_Number = float | SkipJsonSchema[None]
_Object = dict[str, JsonValue]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="allow")


class AgentModel(_Shape):
    providerID: str
    modelID: str


class Agent(_Shape):
    name: str
    description: str
    mode: Literal["subagent", "primary", "all"]
    native: bool
    hidden: bool
    permission: list[PermissionRule]
    options: _Object
    model: AgentModel | SkipJsonSchema[None] = None
    prompt: _Text = None
    variant: _Text = None
    color: _Text = None
    temperature: _Number = None
    topP: _Number = None
    steps: int | SkipJsonSchema[None] = None


class ModelApi(_Shape):
    id: str
    url: str
    npm: str


class Media(_Shape):
    text: bool
    audio: bool
    image: bool
    video: bool
    pdf: bool


class ReasoningField(_Shape):
    field: str


class Capabilities(_Shape):
    temperature: bool
    reasoning: bool
    attachment: bool
    toolcall: bool
    input: Media
    output: Media
    interleaved: bool | ReasoningField


class CacheCost(_Shape):
    read: float
    write: float


class Cost(_Shape):
    """Units: USD per million tokens."""

    input: float
    output: float
    cache: CacheCost


class ModelLimit(_Shape):
    """Units: tokens."""

    context: int
    output: int
    input: int | SkipJsonSchema[None] = None


class Model(_Shape):
    id: str
    providerID: str
    api: ModelApi
    name: str
    family: _Text = None
    capabilities: Capabilities
    cost: Cost
    limit: ModelLimit
    status: Literal["alpha", "beta", "deprecated", "active"]
    options: _Object
    headers: dict[str, str]
    release_date: str
    variants: dict[str, _Object] = {}


class Provider(_Shape):
    id: str
    name: str
    source: Literal["env", "config", "custom", "api"]
    env: list[str]
    options: _Object
    models: dict[str, Model]


class Providers(_Shape):
    all: list[Provider]
    default: dict[str, str]
    connected: list[str]


class UsableProviders(_Shape):
    providers: list[Provider]
    default: dict[str, str]


class Command(_Shape):
    name: str
    description: _Text = None
    agent: _Text = None
    model: _Text = None
    source: Literal["command", "mcp", "skill"]
    template: str
    subtask: bool | SkipJsonSchema[None] = None
    hints: list[str]


class Skill(_Shape):
    name: str
    description: str
    location: str
    content: str


class LanguageServer(_Shape):
    id: str
    name: str
    root: str
    status: Literal["connected", "error"]


class Formatter(_Shape):
    name: str
    extensions: list[str]
    enabled: bool


class ProjectTimes(_Shape):
    """Units: milliseconds since the epoch."""

    created: int
    updated: int
    initialized: int


class Project(_Shape):
    id: str
    worktree: str
    vcs: Literal["git"]
    name: str
    icon: ProjectIcon | SkipJsonSchema[None] = None
    time: ProjectTimes
    sandboxes: list[str]


class Path(_Shape):
    home: str
    state: str
    config: str
    worktree: str
    directory: str


class Health(_Shape):
    healthy: Literal[True]
    version: str


ANSWERS: dict[tuple[str, str], Any] = {  # types and generic aliases
    ("get", "/global/health"): Health,
    ("get", "/agent"): list[Agent],
    ("get", "/provider"): Providers,
    ("get", "/config/providers"): UsableProviders,
    ("get", "/command"): list[Command],
    ("get", "/skill"): list[Skill],
    ("get", "/lsp"): list[LanguageServer],
    ("get", "/formatter"): list[Formatter],
    ("get", "/path"): Path,
    ("get", "/project"): list[Project],
    ("post", "/project"): Project,
    ("get", "/project/current"): Project,
    ("put", "/project/current"): Project,
    ("post", "/project/git/init"): Project,
    ("post", "/project/init"): Project,
    ("patch", "/project/{project_id}"): Project,
}
