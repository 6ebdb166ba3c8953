"""Calls of MCP servers' tools, with the names that people know them by."""

from __future__ import annotations

from opencode_web.lib.db import in_db
from sessions.events.parts import ToolPart
from sessions.mcp.servers import offered_by_servers
from sessions.runner.log.steps import ProviderTurn
from tools.registry import all_tools

# In the metadata of a call: `{server, tool}`, as the server itself calls it.
KEY = "mcp"


async def name_servers(turn: ProviderTurn, calls: list[ToolPart]) -> list[ToolPart]:
    """Returns: the calls of an answer, those of servers' tools with which it is in their metadata.

    What models call them by does not tell where the name of the server ends.
    """
    if all(part.tool in all_tools() for part in calls):
        return calls
    offered = await in_db(
        offered_by_servers, turn.session.project, turn.setup.config.mcp, turn.author_id
    )
    names = {tool.name: {"server": tool.server, "tool": tool.remote} for tool in offered}
    return [
        part.model_copy(update={"metadata": {**(part.metadata or {}), KEY: names[part.tool]}})
        if part.tool in names
        else part
        for part in calls
    ]
