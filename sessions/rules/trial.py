"""What would become of a call, by the rules that are in force and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sessions.agents.loader import find_agent
from sessions.config.effective import project_config
from sessions.models import Project
from sessions.rules.in_force import agent_ruleset, saved_rules
from sessions.rules.policy import policy_rules
from tools.permissions.rules import (
    Action,
    Level,
    Rule,
    Subject,
    asked_as,
    judge,
    say_source,
    source_of,
)
from tools.shell.parse import parse_shell


@dataclass(frozen=True)
class Outcome:
    """What becomes of one thing that a call asks for, and by whose word."""

    permission: str
    text: str
    action: Action
    source: str


def try_call(project: Project, *, agent: str, tool: str, text: str) -> list[Outcome]:
    """Judge a call of a tool about a text: a command, a path, an address.

    Returns: one outcome for all it asks for by its own name, and one for the folders outside of
    the project that a command names.
    """
    config = project_config(project)
    chosen = find_agent(config, agent)
    saved = saved_rules(project).order_by("pk")
    ruleset = (
        *agent_ruleset(project, chosen, config),
        *policy_rules(project.team.needs_approval, in_project=True),
        *(Rule(one.permission, one.pattern, Action.ALLOW, Level.SAVED) for one in saved),
    )
    permission = asked_as(tool)
    if permission != "bash":
        verdict = judge(permission, [Subject(text)], ruleset)
        return [Outcome(permission, text, verdict.action, _whose(verdict.rule))]
    folder = Path(project.directory)
    asked = parse_shell(text, directory=folder, worktree=folder)
    verdict = judge(permission, asked.subjects, ruleset, opaque=asked.opaque)
    found = [Outcome(permission, text, verdict.action, _whose(verdict.rule))]
    if asked.outside:
        name, paths = "external_directory", asked.outside
        verdict = judge(name, map(Subject, paths), ruleset)
        found.append(Outcome(name, ", ".join(paths), verdict.action, _whose(verdict.rule)))
    return found


def _whose(rule: Rule | None) -> str:
    return say_source(source_of(rule))
