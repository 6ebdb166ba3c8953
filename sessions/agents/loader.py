from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from sessions.config import AgentConfig, Config
from tools.permissions import AGENT_DEFAULTS, Ruleset

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
    # `provider/model`, or empty for the session's own.
    model: str = ""
    temperature: float | None = None
    top_p: float | None = None
    steps: int | None = None

    @property
    def is_primary(self) -> bool:
        return self.mode in ("primary", "all") and not self.hidden


@cache
def _built_in() -> Mapping[str, Agent]:
    agents = {}
    for path in sorted(Path(__file__).parent.glob("*.md")):
        head, _, body = path.read_text().removeprefix("---\n").partition("\n---\n")
        fields = dict(line.split(": ", 1) for line in head.splitlines())
        mode: Mode = "subagent" if fields["mode"] == "subagent" else "primary"
        agents[path.stem] = Agent(
            name=path.stem,
            description=fields["description"],
            mode=mode,
            prompt=body.strip(),
            rules=AGENT_DEFAULTS.get(path.stem, ()),
            native=True,
        )
    return agents


def load_agents(config: Config) -> dict[str, Agent]:
    """Returns: the built-in agents as the settings change them, and the settings' own, by name."""
    agents = dict(_built_in())
    for name, own in config.agent.items():
        if own.disable:
            agents.pop(name, None)
            continue
        base = agents.get(name) or Agent(name=name, description="", mode="all", prompt="")
        agents[name] = _with_settings(base, own)
    # A server without any agent could not answer; build is what everything falls back to.
    agents.setdefault("build", _built_in()["build"])
    return agents


def _with_settings(agent: Agent, own: AgentConfig) -> Agent:
    given = own.model_dump(
        include={"description", "mode", "prompt", "model", "temperature", "top_p", "steps"},
        exclude_none=True,
    )
    return replace(agent, hidden=own.hidden or agent.hidden, **given)


def choose_agent(config: Config, name: str | None) -> Agent:
    """The agent of a prompt: the named one, else the settings' default, else build.

    Raises: Invalid when there is none of that name, with the names there are.
    """
    agents = load_agents(config)
    wanted = name or config.default_agent or "build"
    agent = agents.get(wanted)
    if agent is None:
        names = ", ".join(sorted(a.name for a in agents.values() if a.is_primary))
        raise Invalid(f'Agent not found: "{wanted}". Available agents: {names}')
    return agent


def agent_to_wire(agent: Agent, ruleset: Ruleset) -> JsonObject:
    """Returns: `Agent` of the HTTP API."""
    wire: JsonObject = {
        "name": agent.name,
        "description": agent.description,
        "mode": agent.mode,
        "native": agent.native,
        "hidden": agent.hidden,
        "permission": [
            {"permission": rule.permission, "pattern": rule.pattern, "action": rule.action.value}
            for rule in ruleset
        ],
        "options": {},
    }
    if agent.model:
        provider, _, model = agent.model.partition("/")
        wire["model"] = {"providerID": provider, "modelID": model}
    for key, value in (
        ("temperature", agent.temperature),
        ("topP", agent.top_p),
        ("steps", agent.steps),
    ):
        if value is not None:
            wire[key] = value
    return wire
