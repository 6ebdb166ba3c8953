"""The tools of an MCP server, and the rule of the project for each."""

from __future__ import annotations

from dataclasses import dataclass

from opencode_web.lib.json import JsonValue
from sessions.access import ProjectAccess
from sessions.actions.team_items import item_of
from sessions.agents.loader import find_agent
from sessions.config.effective import project_config
from sessions.mcp.servers import known_servers
from sessions.rules.in_force import agent_ruleset
from sessions.rules.rows import RuleRow, read_rows, write_rows
from tools.permissions.rules import Action, evaluate, is_hidden

RULES = ("permission",)
_ALL = "*"
# Whose rules a page shows that is about no session.
_AGENT = "build"


@dataclass(frozen=True)
class ToolRule:
    """One tool. `rule` is the project's own, if it has one; `action` what holds now."""

    name: str
    remote: str
    description: str
    rule: str
    action: Action
    is_hidden: bool


def tool_rules(access: ProjectAccess, name: str) -> list[ToolRule]:
    """Returns: the tools that a server has for this person, as it said last."""
    project = access.project
    config = project_config(project)
    row = known_servers(project, config.mcp, access.principal.user.pk).get(name)
    if row is None:
        return []
    ruleset = agent_ruleset(project, find_agent(config, _AGENT), config)
    own = {one.tool: one.action for one in _rules(access) if one.pattern == _ALL}
    return [
        ToolRule(
            name=tool["name"],
            remote=tool["remote"],
            description=tool["description"],
            rule=own.get(tool["name"], ""),
            action=evaluate(tool["name"], _ALL, ruleset),
            is_hidden=is_hidden(tool["name"], ruleset),
        )
        for tool in row.tools
    ]


def with_rules(access: ProjectAccess, wanted: dict[str, str]) -> JsonValue:
    """Returns: the project's rules with these for whole tools, by name; an empty one is taken away.

    A rule that is set anew comes last, where it counts.
    """
    before = _rules(access)
    own = {one.tool: one.action for one in before if one.pattern == _ALL}
    changed = {tool: one for tool, one in wanted.items() if own.get(tool, "") != one}
    rows = [one for one in before if not (one.pattern == _ALL and one.tool in changed)]
    return write_rows([*rows, *(RuleRow(tool, _ALL, one) for tool, one in changed.items() if one)])


def _rules(access: ProjectAccess) -> list[RuleRow]:
    return read_rows(item_of(access.project.config, RULES))
