"""Agents that a repository brings. Whoever may write there wrote them.

What an untrusted one says counts as far as it is text or tightens: its prompt, its description, and
of its rules those that deny or ask. It is never a change of an agent that is there already. Once an
administrator has trusted the files, they count like the built-in ones, below the settings. Those
that plugins set are never trusted, and everything else of the same name counts before them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from pydantic import ValidationError

from sessions.config.model import AgentConfig
from sessions.repository.brought import Brought, BroughtFile, BroughtKind
from sessions.repository.front_matter import BrokenHead, split_front_matter
from sessions.repository.problems import Problem
from sessions.repository.settings import RepositorySettings, read_repository_settings
from tools.permissions.config import parse_config
from tools.permissions.rules import Level, Rule, Ruleset

# As the rows that name an agent hold it.
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9 ._/()-]{0,58}[A-Za-z0-9._/()-])?")
_WRONG_NAME = "is no name of an agent: letters, digits, . _ - / ( ), and spaces between them."


@dataclass(frozen=True)
class AgentFile:
    """An agent as its file says it is."""

    name: str
    path: str
    config: AgentConfig
    rules: tuple[Rule, ...]
    by_plugin: bool = False


@dataclass(frozen=True)
class AgentFiles:
    """The agents of a repository by name, the last of a name, and what is wrong with others."""

    agents: dict[str, AgentFile]
    problems: tuple[Problem, ...]


def read_agents(brought: Brought) -> AgentFiles:
    """Read the agents' files. A broken one is left out and said to be."""
    agents: dict[str, AgentFile] = {}
    problems: list[Problem] = []
    by_plugins = map(_read, brought.set_by_plugins(BroughtKind.AGENT))
    of_settings = _of_settings(read_repository_settings(brought))
    of_files = map(_read, brought.of(BroughtKind.AGENT, BroughtKind.MODE))
    for found in (*by_plugins, *of_settings, *of_files):
        if isinstance(found, Problem):
            problems.append(found)
            continue
        if found.name in agents:
            other = agents[found.name].path
            problems.append(Problem(other, f"{found.path} has the same name and counts."))
        agents[found.name] = found
    return AgentFiles(agents, tuple(problems))


def _of_settings(found: RepositorySettings) -> Iterator[AgentFile | Problem]:
    """The agents under `agent` of the settings. Their rules are those of a level of its own."""
    agents, path = found.data.get("agent"), found.paths.get("agent", "")
    if not isinstance(agents, dict):
        return
    for name, own in agents.items():
        if not _NAME.fullmatch(name):
            yield Problem(path, f"agent.{name[:60]} {_WRONG_NAME}")
            continue
        try:
            yield AgentFile(name, path, AgentConfig.model_validate(own), ())
        except ValidationError as exc:
            first = exc.errors()[0]
            where = ".".join(str(key) for key in ("agent", name, *first["loc"]))
            yield Problem(path, f"{where}: {first['msg']}.")


@lru_cache(maxsize=256)
def _read(file: BroughtFile) -> AgentFile | Problem:
    if not _NAME.fullmatch(file.name):
        return Problem(file.path, f"Its name {_WRONG_NAME}")
    try:
        head, body = split_front_matter(file.text)
        if file.kind is BroughtKind.MODE:
            head["mode"] = "primary"
        if body:
            head["prompt"] = body
        config = AgentConfig.model_validate(head)
        rules = parse_config({"tools": dict(config.tools or {}), "permission": config.permission})
    except BrokenHead as exc:
        return Problem(file.path, f"Its head is broken: {exc}.")
    except ValidationError as exc:
        first = exc.errors()[0]
        where = ".".join(str(key) for key in first["loc"]) or "head"
        return Problem(file.path, f"{where}: {first['msg']}.")
    except ValueError as exc:
        return Problem(file.path, f"{exc}.")
    return AgentFile(file.name, file.path, config, rules, file.by_plugin)


def rules_in_force(agent: AgentFile, *, is_trusted: bool) -> Ruleset:
    """The rules of an agent's file: of an untrusted one those that tighten, else all."""
    level = Level.DEFAULT if is_trusted else Level.REPOSITORY
    return tuple(
        Rule(rule.permission, rule.pattern, rule.action, level, for_agent=True)
        for rule in agent.rules
    )
