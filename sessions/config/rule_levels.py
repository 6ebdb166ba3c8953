"""One level of settings as permission rules: the general ones, and those for an agent by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from opencode_web.lib.json import JsonObject
from tools.permissions.config import parse_config
from tools.permissions.rules import Level, Ruleset

# The keys of settings that hold rules, also below `agent.<name>`.
RULE_KEYS = ("tools", "permissions", "permission")


@dataclass(frozen=True)
class LevelRules:
    """The rules of one level. What is said about an agent comes after what holds for all."""

    general: Ruleset = ()
    by_agent: Mapping[str, Ruleset] = field(default_factory=dict)

    def rules_for(self, agent: str) -> Ruleset:
        """Returns: the rules in the order in which they count."""
        return (*self.general, *self.by_agent.get(agent, ()))


def read_level(level: Level, config: JsonObject) -> LevelRules:
    """Read the rules in settings of the shape of `opencode.json`.

    Raises: ValueError saying which entry is not understood.
    """
    agents = config.get("agent") or {}
    if not isinstance(agents, dict):
        raise ValueError("agent must be an object")
    by_agent = {}
    for name, own in agents.items():
        if not isinstance(own, dict):
            raise ValueError(f"agent.{name} must be an object")
        rules = _at(level, parse_config(own))
        by_agent[name] = tuple(replace(rule, for_agent=True) for rule in rules)
    return LevelRules(_at(level, parse_config(config)), by_agent)


def _at(level: Level, rules: Ruleset) -> Ruleset:
    return tuple(replace(rule, level=level) for rule in rules)
