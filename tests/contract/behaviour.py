"""The declared differences of behaviour, and what of them can be found by comparing."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tools.permissions.rules import Action, Rule, evaluate

FILE = Path(__file__).with_name("behaviour.toml")
# What each agent is asked for, in both programs: a permission, and what it is about.
_PROBES = (
    *("edit a.py", "bash make", "glob *", "grep x", "list .", "lsp *", "task explore", "skill x"),
    *("webfetch https://example.org", "websearch x", "codesearch x", "todowrite *", "doom_loop x"),
    *("question *", "plan_enter *", "plan_exit *", "external_directory /etc/*", "task general"),
    *("read a.py", "read .env", "read .env.example", "read .ENV", "read mcp:docs:x"),
    *("edit .opencode/plans/a.md",),
)


@dataclass(frozen=True)
class Declared:
    area: str
    genuine: str
    ours: str
    why: str
    test: str
    facts: tuple[str, ...] = ()

    def covers(self, fact: str) -> bool:
        return any(fnmatchcase(fact, pattern) for pattern in self.facts)


def read_declared() -> list[Declared]:
    entries = tomllib.loads(FILE.read_text())["difference"]
    return [Declared(**{**entry, "facts": tuple(entry.get("facts", ()))}) for entry in entries]


def decisions(agents: Iterable[dict[str, Any]]) -> dict[str, Action]:
    """Returns: what each agent may do, by `agent permission pattern`."""
    found = {}
    for agent in agents:
        rules = tuple(
            Rule(rule["permission"], rule["pattern"], Action(rule["action"]))
            for rule in agent["permission"]
        )
        for probe in _PROBES:
            permission, _, pattern = probe.partition(" ")
            found[f"{agent['name']} {probe}"] = evaluate(permission, pattern, rules)
    return found


def differing_facts(theirs: dict[str, Any], ours: dict[str, Any]) -> Iterator[str]:
    """Yield what the two differ in. Each has lists of `TOOL`, `COMMAND`, `SKILL` and `AGENT`, and
    the decisions of agents under `DEFAULT`."""
    for kind in ("TOOL", "COMMAND", "SKILL", "AGENT"):
        for name in sorted(set(theirs[kind]) ^ set(ours[kind])):
            yield f"{kind} {name}"
    for probe, action in theirs["DEFAULT"].items():
        if probe in ours["DEFAULT"] and ours["DEFAULT"][probe] != action:
            yield f"DEFAULT {probe}"
