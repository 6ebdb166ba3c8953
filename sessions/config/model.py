"""What settings can say, in the shape of `opencode.json`, at every level (`effective_config`).

Keys of OpenCode that this server does not act on are kept and given back, so that a file written
for it can be pasted as it is; those that nobody knows are left out (`sessions.config.known_keys`).
Source: behaviour facts 6 (merging: objects deep, arrays replaced, `instructions` concatenated).
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    field_validator,
)

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.pictures import ImageLimits
from sessions.config.network import NetworkConfig
from sessions.config.programs import Formatters, McpConfig, Servers, read_switch, require_whole
from sessions.config.rule_levels import read_level
from sessions.config.sharing import Mode, SharingConfig
from sessions.repository.brought import NOTHING, Brought
from sessions.repository.settings import Ignored
from tools.features import Features
from tools.formatters.table import FORMATTERS
from tools.lsp.servers import SERVERS
from tools.permissions.rules import Level
from tools.search.engine import EngineKind
from tools.truncate import MAX_BYTES, MAX_LINES


class AgentConfig(BaseModel):
    """One agent under `agent`."""

    model_config = ConfigDict(frozen=True, extra="allow")

    model: str | None = None
    """`provider/model`; without it the session's model is used."""
    variant: str | None = None
    """Variant of that model."""
    prompt: str | None = None
    """System instructions in place of the built-in ones."""
    description: str | None = None
    """When to use this agent, one sentence."""
    mode: Literal["subagent", "primary", "all"] | None = None
    """Whether people choose it, other agents do, or both."""
    disable: bool = False
    """Takes a built-in agent away."""
    hidden: bool | None = None
    """Leaves it out of lists."""
    color: str | None = None
    """How clients mark it: a name of theirs or `#rrggbb`."""
    options: JsonObject | None = None
    """Request options, over those of the model."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    """Sampling temperature."""
    top_p: float | None = Field(default=None, ge=0, le=1)
    """Nucleus sampling."""
    steps: int | None = Field(
        default=None, gt=0, validation_alias=AliasChoices("steps", "maxSteps")
    )
    """Provider turns before the agent has to come to an end."""
    permission: JsonValue = None
    """Rules after the ones of the team and the project."""
    tools: dict[str, bool] | None = None
    """Older form of rules: tools switched on or off."""
    fallback: list[str] | None = Field(default=None, max_length=8)
    """Models, `provider/model`, that are asked in this order when its own does not answer; in place
    of `fallback_models`."""


DEFAULT_TURN_STEPS = 200
DEFAULT_EQUAL_CALLS = 25
DEFAULT_RETRY_WAIT_S = 600


class Limits(BaseModel):
    """Bounds of this server's own, under `limits`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    session_cost: Decimal | None = Field(default=None, gt=0, max_digits=12, decimal_places=6)
    """USD that a session and its sub-agents may cost before an admin has to allow as much again."""
    turn_cost: Decimal | None = Field(default=None, gt=0, max_digits=12, decimal_places=6)
    """USD that a turn and its sub-agents may cost; then it stops, until somebody writes again."""
    models: list[Annotated[str, Field(min_length=1, max_length=200)]] | None = Field(
        default=None, max_length=200
    )
    """The only models that may be used, as patterns such as anthropic/*. A model must be on the
    list of each level that has one: the server, the team and the project."""
    permission_timeout_s: int | None = Field(default=None, ge=10, le=30 * 24 * 3600)
    """Seconds until a request or question that nobody has answered is rejected; else it waits."""
    turn_steps: int | None = Field(default=None, ge=1)
    """Steps after which a turn stops until somebody has it continue; 200 if not set."""
    equal_calls: int | None = Field(default=None, ge=2)
    """Equal tool calls that a turn may make, whatever the rules allow; 25 if not set."""
    retry_wait_s: int | None = Field(default=None, ge=1, le=24 * 3600)
    """Seconds that a provider may ask to wait before the next try; 600 if not set. When it asks for
    more, the turn stops."""
    command_memory_mb: int | None = Field(default=None, ge=64)
    """MB of memory that one command may use with all it starts, if less than the server's limit."""
    command_processes: int | None = Field(default=None, ge=16)
    """Processes and threads of one command, if fewer than the server's limit."""
    terminals: int | None = Field(default=None, ge=0)
    """Terminals that one person may have open, if fewer than the server allows; 0 for none."""
    requests_per_minute: int | None = Field(default=None, ge=1)
    """Requests of one API token of the team, if fewer than the server allows. Only of a team."""


class CompactionConfig(BaseModel):
    """When and how long conversations are summed up, under `compaction`."""

    model_config = ConfigDict(frozen=True, extra="allow")

    auto: bool = True
    """Sum up by itself when the model's context is nearly full."""
    prune: bool = True
    """Before that, take old outputs of tools out of what the model reads, if that is enough."""
    reserved: int | None = Field(default=None, ge=0)
    """Tokens that are kept free, for models whose input has a limit of its own."""
    preserve_recent_tokens: int | None = Field(default=None, ge=0)
    """Tokens of the newest messages that are kept as they are."""
    tail_turns: int | None = None
    """How many of the newest turns may be kept as they are; 0 keeps none."""


class ExperimentalConfig(BaseModel):
    """Tools that are not for everybody, under `experimental`."""

    model_config = ConfigDict(frozen=True, extra="allow")

    batch_tool: bool = False
    """Offer `batch`, which makes up to 25 calls at once."""
    lsp_tool: bool = True
    """Offer `lsp`, which asks language servers, where they are switched on."""
    plan_mode: bool = True
    """Offer the tools by which an agent proposes plan mode, and that its plan be carried out."""
    continue_loop_on_deny: bool = False
    """Let the agent go on after a call that a person rejected; otherwise the turn ends there."""


class CommandConfig(BaseModel):
    """One command under `command`."""

    model_config = ConfigDict(frozen=True, extra="allow")

    template: str = Field(max_length=64 * 1024)
    """The prompt: $ARGUMENTS, $1 …, !`shell` and @file are filled in."""
    description: str | None = None
    """What it does, for lists."""
    agent: str | None = None
    """Who does it."""
    model: str | None = None
    """`provider/model`."""
    variant: str | None = None
    """Variant of that model."""
    subtask: bool | None = None
    """Have a sub-agent do it."""


class SkillsConfig(BaseModel):
    """Where else skills are, under `skills`."""

    model_config = ConfigDict(frozen=True, extra="allow")

    paths: list[str] = Field(default=[], max_length=16)
    """Folders in the worktree, relative to its root."""
    urls: list[str] = Field(default=[], max_length=8)
    """Addresses with an `index.json` of skills, public ones only."""


class ToolOutputConfig(BaseModel):
    """How much of a tool's output a model is given at once, under `tool_output`."""

    model_config = ConfigDict(frozen=True, extra="allow")

    max_lines: int = Field(default=MAX_LINES, gt=0, le=100_000)
    """Lines; the whole of a longer output is kept in a file for 7 days."""
    max_bytes: int = Field(default=MAX_BYTES, gt=0, le=2_000_000)
    """Bytes."""


class ImageConfig(BaseModel):
    """What pictures for a model may be, under `attachment.image`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    auto_resize: bool = ImageLimits.auto_resize
    """Make larger ones smaller; else they are left out."""
    max_width: int = Field(default=ImageLimits.max_width, gt=0)
    """Pixels."""
    max_height: int = Field(default=ImageLimits.max_height, gt=0)
    """Pixels."""
    max_base64_bytes: int = Field(default=ImageLimits.max_base64_bytes, gt=0)
    """Characters of the picture in base64."""


class WebsearchConfig(BaseModel):
    """Which search engine a project asks, under `websearch`; its key is in the team's settings."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = True
    """Whether agents may search the web at all."""
    provider: EngineKind | None = None
    """exa, parallel, searxng or brave; else the team's."""
    url: str = Field(default="", max_length=500)
    """Address of a SearXNG."""


class AttachmentConfig(BaseModel):
    """Files for a model, under `attachment`."""

    model_config = ConfigDict(frozen=True, extra="allow")

    image: ImageConfig = ImageConfig()
    """Pictures."""


class Config(BaseModel):
    """What this server acts on in an `opencode.json`."""

    model_config = ConfigDict(frozen=True, extra="allow")

    model: str | None = None
    """Default model, `provider/model`."""
    small_model: str | None = None
    """Model for titles and summaries, `provider/model`."""
    fallback_models: list[str] = Field(default=[], max_length=8)
    """Models, `provider/model`, that are asked in this order when a prompt's does not answer."""
    default_agent: str | None = None
    """Agent of a prompt that names none."""
    provider: dict[str, JsonObject] = {}
    """Providers with `options.baseURL` and `models`, over the ones set up in the settings."""
    permission: JsonValue = None
    """Rules: allow, ask or deny by tool and pattern."""
    permissions: JsonValue = None
    """Older form of rules: allow and deny lists, first match wins."""
    tools: dict[str, bool] | None = None
    """Older form of rules: tools switched on or off."""
    agent: dict[str, AgentConfig] = {}
    """Agents of your own, and changes to the built-in ones."""
    subagent_depth: int = Field(default=1, ge=0, le=5)
    """How many levels of sub-agents there may be below a session; 0 for none."""
    instructions: list[str] = []
    """Instructions for every agent: files relative to the worktree, globs, http(s) addresses."""
    instructions_text: str = Field(default="", max_length=64 * 1024)
    """Instructions for every agent, written here. A project's take the place of its team's."""
    references: dict[str, JsonValue] = {}
    """Other folders and repositories worth knowing of: an address, or an object with `path` or
    `repository`, `branch`, `description` and `hidden`."""
    reference: dict[str, JsonValue] = {}
    """Older name of `references`."""

    command: dict[str, CommandConfig] = {}
    """Prompts by name, for `/name` in a prompt."""
    skills: SkillsConfig = SkillsConfig()
    """Folders with skills beside the usual ones."""
    worktree: Literal["auto", "own", "project"] = "auto"
    """Where sessions that people start here work: each in its own git worktree and branch, or in
    the project's folder. `auto` is own, but for the sample project of somebody who works alone."""
    tool_output: ToolOutputConfig = ToolOutputConfig()
    """How much of an output a model is given at once."""
    websearch: WebsearchConfig = WebsearchConfig()
    """The search engine, in place of the one that the team has set up."""
    attachment: AttachmentConfig = AttachmentConfig()
    """What files for a model may be."""
    lsp: Servers | None = None
    """Language servers: true, or changes to the known ones and some of your own."""
    formatter: Formatters | None = None
    """Formatters that are called after a change: likewise."""
    mcp: dict[str, McpConfig] = Field(default={}, max_length=64)
    """MCP servers by name: programs whose tools agents are offered."""
    compaction: CompactionConfig = CompactionConfig()
    """What happens when a conversation grows too long for its model."""
    limits: Limits = Limits()
    """Bounds on cost and waiting."""
    network: NetworkConfig | None = None
    """What commands reach; each level by itself, see `sessions.config.network`."""
    share: Mode | None = None
    """Links to sessions: made by hand, for the team with every new session, or not at all."""
    sharing: SharingConfig | None = None
    """Who links may be for; not of a project."""
    experimental: ExperimentalConfig = ExperimentalConfig()
    """Tools that have to be switched on."""

    def features(self) -> Features:
        """Which tools are switched on."""
        return Features(
            plan=self.experimental.plan_mode,
            batch=self.experimental.batch_tool,
            lsp=self.lsp is not None and self.experimental.lsp_tool,
        )

    _brought: Brought = PrivateAttr(default=NOTHING)
    _ignored: tuple[Ignored, ...] = PrivateAttr(default=())

    @property
    def brought(self) -> Brought:
        """What the repository brings."""
        return self._brought

    @property
    def ignored(self) -> tuple[Ignored, ...]:
        """What the repository's own settings say and does not count."""
        return self._ignored

    def with_repository(self, brought: Brought, ignored: tuple[Ignored, ...]) -> Config:
        """Returns: these settings, which know what the repository brings."""
        known = self.model_copy()
        known._brought, known._ignored = brought, ignored
        return known

    @field_validator("lsp", "formatter", mode="before")
    @classmethod
    def _switch(cls, value: JsonValue) -> JsonValue:
        return read_switch(value)

    @field_validator("lsp")
    @classmethod
    def _whole_servers(cls, value: Servers | None) -> Servers | None:
        require_whole(value or {}, SERVERS)
        return value

    @field_validator("formatter")
    @classmethod
    def _whole_formatters(cls, value: Formatters | None) -> Formatters | None:
        require_whole(value or {}, FORMATTERS)
        return value

    @field_validator("websearch", mode="before")
    @classmethod
    def _engine_alone(cls, value: JsonValue) -> JsonValue:
        if isinstance(value, bool):
            return {"enabled": value}
        return {"provider": value} if isinstance(value, str) else value

    @field_validator("skills", mode="before")
    @classmethod
    def _paths_alone(cls, value: JsonValue) -> JsonValue:
        # As a newer form of the file has it.
        return {"paths": value} if isinstance(value, list) else value

    @field_validator("model", "small_model")
    @classmethod
    def _names_a_provider(cls, value: str | None) -> str | None:
        if value is not None and "/" not in value.strip("/"):
            raise ValueError("must be written provider/model")
        return value


def parse_settings(data: JsonObject) -> Config:
    """Check settings that somebody wrote.

    Raises: Invalid naming the first key that is wrong and why.
    """
    try:
        config = Config.model_validate(data)
        read_level(Level.PROJECT, data)
    except ValidationError as exc:
        first = exc.errors()[0]
        where = ".".join(str(key) for key in first["loc"]) or "settings"
        raise Invalid(f"{where}: {first['msg']}", field=where) from exc
    except ValueError as exc:
        raise Invalid(f"permission: {exc}", field="permission") from exc
    return config


def merge(base: JsonObject, over: JsonObject) -> JsonObject:
    """Objects are merged deeply, everything else of `over` replaces; `instructions` are joined."""
    merged = dict(base)
    for key, value in over.items():
        known = merged.get(key)
        if isinstance(known, dict) and isinstance(value, dict):
            merged[key] = merge(known, value)
        elif key == "instructions" and isinstance(known, list) and isinstance(value, list):
            merged[key] = [*known, *(item for item in value if item not in known)]
        else:
            merged[key] = value
    return merged
