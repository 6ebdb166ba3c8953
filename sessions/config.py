"""The settings of a team and of a project, in the shape of `opencode.json`.

Both are optional; a project's come over its team's. Keys that this server does not act on are kept
and given back, so that a file written for OpenCode can be pasted as it is.
Source: behaviour facts 6 (merging: objects deep, arrays replaced, `instructions` concatenated).
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, field_validator

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject, JsonValue
from sessions.models import Project
from tools.permissions import Ruleset, parse_config


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

    def rules(self) -> Ruleset:
        """The permission rules of this agent."""
        return parse_config({"tools": dict(self.tools or {}), "permission": self.permission})


class Limits(BaseModel):
    """Bounds of this server's own, under `limits`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    session_cost: Decimal | None = Field(default=None, gt=0, max_digits=12, decimal_places=6)
    """USD that a session and its sub-agents may cost before an admin has to allow as much again."""
    permission_timeout_s: int | None = Field(default=None, ge=10, le=30 * 24 * 3600)
    """Seconds until a request or question that nobody has answered is rejected; else it waits."""


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


class Config(BaseModel):
    """What this server acts on in an `opencode.json`."""

    model_config = ConfigDict(frozen=True, extra="allow")

    model: str | None = None
    """Default model, `provider/model`."""
    small_model: str | None = None
    """Model for titles and summaries, `provider/model`."""
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

    compaction: CompactionConfig = CompactionConfig()
    """What happens when a conversation grows too long for its model."""
    limits: Limits = Limits()
    """Bounds on cost and waiting."""

    @field_validator("model", "small_model")
    @classmethod
    def _names_a_provider(cls, value: str | None) -> str | None:
        if value is not None and "/" not in value.strip("/"):
            raise ValueError("must be written provider/model")
        return value

    def rules(self) -> Ruleset:
        """The permission rules of the whole team or project."""
        return parse_config(
            {
                "tools": dict(self.tools or {}),
                "permissions": self.permissions,
                "permission": self.permission,
            }
        )


def parse_settings(data: JsonObject) -> Config:
    """Check settings that somebody wrote.

    Raises: Invalid naming the first key that is wrong and why.
    """
    try:
        config = Config.model_validate(data)
        config.rules()
        for agent in config.agent.values():
            agent.rules()
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


def config_data(project: Project) -> JsonObject:
    """Returns: the team's settings with the project's over them, as they were written."""
    return merge(project.team.config, project.config)


def project_limits(project: Project) -> Limits:
    """The limits in force in a project. Of two limits of cost, the lower one counts."""
    over, base = (
        Limits.model_validate(config.get("limits") or {})
        for config in (project.config, project.team.config)
    )
    costs = [one.session_cost for one in (over, base) if one.session_cost is not None]
    timeout_s = over.permission_timeout_s or base.permission_timeout_s
    return Limits(session_cost=min(costs, default=None), permission_timeout_s=timeout_s)


def project_config(project: Project) -> Config:
    """The settings in force in a project. They were checked when they were saved."""
    return Config.model_validate(config_data(project))
