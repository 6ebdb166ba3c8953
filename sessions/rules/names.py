"""The names that permission rules of a team can be about, as far as anybody knows them now.

A rule for another name is no mistake for certain: the tools of a server or repository are known
once it has been asked. But until then it does nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from django.db.models import Q

from opencode_web.lib.instance_config import instance_config
from sessions.mcp.servers import SAMPLING, servers_in, tool_name
from sessions.models import McpServer, ToolDescription
from sessions.visibility import projects_in
from teams.access import TeamAccess
from tools.permissions.rules import asked_as
from tools.permissions.wildcards import matches, may_match
from tools.registry import all_tools

_OF_NO_TOOL = frozenset({"external_directory", "doom_loop", SAMPLING})


@dataclass(frozen=True)
class KnownNames:
    """`starts` are what the tools of MCP servers begin with, also of those not asked yet."""

    names: frozenset[str]
    starts: frozenset[str] = frozenset()

    def has(self, tool: str) -> bool:
        """Whether a rule for this name or pattern is about anything."""
        return any(matches(name, tool) for name in self.names) or any(
            may_match(start, tool) for start in self.starts
        )

    def meant_by(self, tool: str) -> str:
        """Returns: the name that differs from this in case only; nothing for one that counts."""
        if self.has(tool):
            return ""
        folded = tool.casefold()
        return next((name for name in sorted(self.names) if name.casefold() == folded), "")

    def closest(self, tool: str) -> str:
        """Returns: the name that is most like this one, or "" where none is."""
        folded = tool.casefold()
        names = get_close_matches(folded, self.names, n=1)
        # Its calls are displayed as “Shell”.
        return "bash" if folded == "shell" else next(iter(names), "")


def known_names(access: TeamAccess) -> KnownNames:
    """Returns: the names in all projects of a team that the person sees. Three queries."""
    projects = projects_in(access)
    configs = [instance_config(), access.team.config, *projects.values_list("config", flat=True)]
    # What a server has said to others is theirs.
    servers = McpServer.objects.filter(Q(user=None) | Q(user=access.user), project__in=projects)
    rows = [
        *servers.values_list("tools", flat=True),
        *ToolDescription.objects.filter(project__in=projects).values_list("tools", flat=True),
    ]
    return KnownNames(
        _OF_NO_TOOL
        | {asked_as(name) for name in all_tools() if name != "invalid"}
        | {tool["name"] for tools in rows for tool in tools},
        frozenset(tool_name(server, "") for config in configs for server in servers_in(config)),
    )
