from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, NotRequired

from django.utils.translation import gettext as _
from typing_extensions import TypedDict

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from opencode_web.lib.shapes import Unchecked, drop_none
from sessions.agents.brought import AgentFile, read_agents, rules_in_force
from sessions.config.model import AgentConfig, Config
from tools.permissions.defaults import AGENT_DEFAULTS
from tools.permissions.rules import Action, Ruleset

Mode = Literal["subagent", "primary", "all"]


@dataclass(frozen=True)
class Agent:
    """An agent as it is in force in a project. `rules` come after the defaults of all agents."""

    name: str
    description: str
    mode: Mode
    prompt: str
    rules: Ruleset = ()
    native: bool = False
    hidden: bool = False
    # `provider/model`, or empty for the session's own; the variant counts for this model only.
    model: str = ""
    variant: str = ""
    # What is asked when that does not answer; None for what the settings say.
    fallback: tuple[str, ...] | None = None
    color: str = ""
    options: JsonObject = field(default_factory=dict)
    temperature: float | None = None
    top_p: float | None = None
    steps: int | None = None
    # The file of the repository that it is from, or that changes it.
    path: str = ""
    # What that file says and nobody has trusted, as people read it.
    ignored: tuple[str, ...] = ()

    @property
    def is_primary(self) -> bool:
        return self.mode in ("primary", "all") and not self.hidden

    @property
    def is_subagent(self) -> bool:
        return self.mode in ("subagent", "all") and not self.hidden


# Definition order: the first that people can choose is the default.
NATIVE = ("build", "plan", "general", "explore", "compaction", "title", "summary")


@cache
def _built_in() -> Mapping[str, Agent]:
    return {name: _read_built_in(name) for name in NATIVE}


def _read_built_in(name: str) -> Agent:
    text = (Path(__file__).parent / f"{name}.md").read_text(encoding="utf-8")
    head, _, body = text.removeprefix("---\n").partition("\n---\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    mode: Mode = "subagent" if fields["mode"] == "subagent" else "primary"
    return Agent(
        name=name,
        description=fields["description"],
        mode=mode,
        prompt=body.strip(),
        rules=AGENT_DEFAULTS[name],
        native=True,
        hidden=fields.get("hidden") == "true",
        temperature=float(fields["temperature"]) if "temperature" in fields else None,
    )


def load_agents(config: Config) -> dict[str, Agent]:
    """Returns: the built-in agents, those of the repository and those of the settings, by name.

    The settings change all of them; the repository only what it may (`sessions.agents.brought`).
    """
    agents = dict(_built_in())
    for file in read_agents(config.brought).agents.values():
        _take_in(agents, file, config)
    for name, own in config.agent.items():
        if own.disable:
            agents.pop(name, None)
            continue
        base = agents.get(name) or Agent(name=name, description="", mode="all", prompt="")
        agents[name] = _with_settings(base, own)
    if not any(agent.is_primary for agent in agents.values()):
        # A server without any agent could not answer.
        agents["build"] = _built_in()["build"]
    return agents


# What can open nothing, so that anybody's counts. A model is one of the team's, or none is found.
_HARMLESS = frozenset(
    {
        *("description", "mode", "prompt", "model", "variant", "color"),
        *("temperature", "top_p", "steps", "hidden", "fallback"),
    }
)
_UNTRUSTED_CHANGE = "{path}: changes to this agent"


def _take_in(agents: dict[str, Agent], file: AgentFile, config: Config) -> None:
    """Add an agent of the repository, or let its file change one where it is trusted."""
    is_trusted = config.brought.is_trusted and not file.by_plugin
    there = agents.get(file.name)
    if there is not None and (there.hidden or not is_trusted):
        if not file.by_plugin:
            ignored = _UNTRUSTED_CHANGE.format(path=file.path)
            agents[file.name] = replace(there, path=file.path, ignored=(ignored,))
        return
    if file.config.disable:
        if is_trusted:
            agents.pop(file.name, None)
        return
    agent = there or Agent(name=file.name, description="", mode="all", prompt="")
    # What is sent along with a request may name other addresses: that is the team's word.
    keys = _HARMLESS | {"options"} if is_trusted else _HARMLESS
    given = file.config.model_dump(include=set(keys), exclude_none=True)
    agents[file.name] = replace(
        agent,
        **given,
        rules=(*agent.rules, *rules_in_force(file, is_trusted=is_trusted)),
        path=file.path,
        ignored=() if is_trusted or file.by_plugin else _ignored(file),
    )


def _ignored(file: AgentFile) -> tuple[str, ...]:
    allowed = dict.fromkeys(
        f"allow {rule.permission} {rule.pattern}"
        for rule in file.rules
        if rule.action is Action.ALLOW
    )
    return (*allowed, *(["options"] if file.config.options else []))


def _with_settings(agent: Agent, own: AgentConfig) -> Agent:
    given = own.model_dump(
        include={
            *("description", "mode", "prompt", "model", "variant", "color", "options"),
            *("temperature", "top_p", "steps", "hidden", "fallback"),
        },
        exclude_none=True,
    )
    return replace(agent, **given)


def find_agent(config: Config, name: str) -> Agent:
    """The agent of a session or a message; the default when there is none of that name any more."""
    agents = load_agents(config)
    return agents.get(name) or _default(config, agents)


def choose_agent(config: Config, name: str | None) -> Agent:
    """The agent of a prompt: the named one, else the default.

    Raises: Invalid when there is none of that name, or the settings' default is none that people
    may choose; with the names there are.
    """
    agents = load_agents(config)
    agent = agents.get(name) if name else _default(config, agents)
    if agent is None or not (name or agent.name == (config.default_agent or agent.name)):
        names = ", ".join(sorted(a.name for a in agents.values() if a.is_primary))
        wanted = name or config.default_agent
        raise Invalid(
            _('Agent not found: "{name}". Available agents: {names}').format(
                name=wanted, names=names
            )
        )
    return agent


def _default(config: Config, agents: Mapping[str, Agent]) -> Agent:
    """The settings' default, if people may choose it; else the first that they may."""
    wanted = agents.get(config.default_agent or "")
    if wanted is not None and wanted.is_primary:
        return wanted
    return next(agent for agent in agents.values() if agent.is_primary)


def ordered_agents(config: Config) -> list[Agent]:
    """Returns: every agent as clients list them: the default first, then by name."""
    agents = load_agents(config)
    first = _default(config, agents)
    return sorted(agents.values(), key=lambda agent: (agent is not first, agent.name))


class BroughtFrom(TypedDict):
    """The file of the repository that something is from, and what of it waits for trust."""

    path: str
    ignoredUntilTrusted: list[str]


def brought_from(path: str, ignored: Iterable[str]) -> BroughtFrom | None:
    """Returns: None for what is not from a file of the repository."""
    return {"path": path, "ignoredUntilTrusted": [*ignored]} if path else None


class AgentModel(TypedDict):
    """The model that an agent names."""

    providerID: str
    modelID: str


class AgentWire(TypedDict):
    """An agent as the HTTP API has it."""

    name: str
    description: str
    mode: Literal["subagent", "primary", "all"]
    native: bool
    hidden: bool
    permission: list[Annotated[JsonObject, Unchecked("sessions.api.schemas.PermissionRule")]]
    options: JsonObject
    model: NotRequired[AgentModel | None]
    prompt: NotRequired[str | None]
    variant: NotRequired[str | None]
    color: NotRequired[str | None]
    temperature: NotRequired[float | None]
    topP: NotRequired[float | None]
    steps: NotRequired[int | None]
    repository: NotRequired[BroughtFrom | None]


def agent_to_wire(agent: Agent, ruleset: Ruleset) -> AgentWire:
    """Returns: `Agent` of the HTTP API."""
    provider, _, model = agent.model.partition("/")
    wire: AgentWire = {
        "name": agent.name,
        "description": agent.description,
        "mode": agent.mode,
        "native": agent.native,
        "hidden": agent.hidden,
        "permission": [
            {
                "permission": rule.permission,
                "pattern": rule.pattern,
                "action": rule.action.for_clients.value,
            }
            for rule in ruleset
        ],
        # No client acts on them, and a value in there may be secret.
        "options": {},
        "model": {"providerID": provider, "modelID": model} if agent.model else None,
        "prompt": agent.prompt or None,
        "variant": agent.variant or None,
        "color": agent.color or None,
        "temperature": agent.temperature,
        "topP": agent.top_p,
        "steps": agent.steps,
        "repository": brought_from(agent.path, agent.ignored),
    }
    return drop_none(wire)
