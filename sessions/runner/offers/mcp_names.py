"""Calls of MCP servers' tools, with the names that people know them by."""

from __future__ import annotations

from opencode_web.lib.db import in_db
from sessions.config.programs import McpConfig
from sessions.events.parts import ToolPart
from sessions.mcp.servers import offered_by_servers
from sessions.models import Session
from tools.registry import all_tools

# In the metadata of a call: `{server, tool}`, as the server itself calls it.
KEY = "mcp"


async def name_servers(
    session: Session, servers: dict[str, McpConfig], calls: list[ToolPart]
) -> list[ToolPart]:
    """Returns: the calls of an answer, those of servers' tools with which it is in their metadata.

    What models call them by does not tell where the name of the server ends.
    """
    if all(part.tool in all_tools() for part in calls):
        return calls
    offered = await in_db(offered_by_servers, session.project, servers)
    names = {tool.name: {"server": tool.server, "tool": tool.remote} for tool in offered}
    return [
        part.model_copy(update={"metadata": {**(part.metadata or {}), KEY: names[part.tool]}})
        if part.tool in names
        else part
        for part in calls
    ]
