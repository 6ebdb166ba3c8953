"""The tools and plugins that a repository brings, as they described themselves.

They exist once somebody has trusted the files and a worker has asked them in the sandbox.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from opencode_web.lib.compiled import CompiledQuery
from opencode_web.lib.json import JsonObject
from sessions.models import Project, ToolDescription
from sessions.repository.brought import Brought, BroughtFile, BroughtKind
from sessions.repository.plugins import MOST_LATE, Plugin, files_of_config
from sessions.repository.problems import Problem
from tools.permissions.rules import Action, Rule, Ruleset

_DESCRIPTION = CompiledQuery(
    lambda project_id, digest: ToolDescription.objects.filter(project=project_id, digest=digest),
    str,
    str,
)


@dataclass(frozen=True)
class CustomTool:
    """`path` is relative to the worktree, `parameters` a JSON schema, `digest` of all tools."""

    name: str
    path: str
    export: str
    description: str
    parameters: JsonObject
    digest: str
    of_plugin: bool = False


@dataclass(frozen=True)
class Described:
    """The tools that can be offered, the plugins, and what is wrong with others."""

    tools: tuple[CustomTool, ...] = ()
    plugins: tuple[Plugin, ...] = ()
    problems: tuple[Problem, ...] = ()
    # The agents and commands that plugins have set.
    files: tuple[BroughtFile, ...] = ()

    @property
    def off(self) -> frozenset[str]:
        """The paths of plugins that were switched off."""
        return frozenset(plugin.path for plugin in self.plugins if plugin.is_off)

    @property
    def offered(self) -> tuple[CustomTool, ...]:
        """The tools but those of plugins that were switched off."""
        return tuple(tool for tool in self.tools if tool.path not in self.off)


def described(project: Project, brought: Brought) -> Described | None:
    """Returns: what the trusted tools of a project are; None when they have not been asked yet."""
    if not _runs(brought):
        return Described()
    row = brought.description or _DESCRIPTION.first(project.pk, brought.run_digest)
    return to_described(row) if row is not None else None


def with_description(project: Project, brought: Brought) -> Brought:
    """Returns: the same with what was said when it was loaded. One query where something runs."""
    row = _DESCRIPTION.first(project.pk, brought.run_digest) if _runs(brought) else None
    if row is None:
        return brought
    return replace(brought, description=row, by_plugins=to_described(row).files)


def _runs(brought: Brought) -> bool:
    return bool(brought.run(BroughtKind.TOOL)) or brought.runs_plugins


def to_described(row: ToolDescription) -> Described:
    """Returns: what a row says."""
    return Described(
        tuple(CustomTool(**tool, digest=row.digest) for tool in row.tools),
        tuple(
            Plugin(
                one["path"],
                tuple(one["hooks"]),
                row.late.get(one["path"], 0),
                one.get("failed", ""),
            )
            for one in row.plugins
        ),
        tuple(Problem(**problem) for problem in row.problems),
        tuple(
            file
            for one in row.plugins
            if row.late.get(one["path"], 0) < MOST_LATE
            for file in files_of_config(one["path"], one.get("config") or {})
        ),
    )


def offered_by(project: Project, brought: Brought) -> tuple[CustomTool, ...]:
    """Returns: the tools among what a repository brings that agents may be offered."""
    found = described(project, brought)
    return found.offered if found else ()


def asked_for(tools: Iterable[CustomTool]) -> Ruleset:
    """The defaults for custom tools: each is asked for under its own name."""
    return tuple(Rule(tool.name, "*", Action.ASK) for tool in tools)
