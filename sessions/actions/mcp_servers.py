"""What MCP servers said, forgotten, so that the next turn asks them again."""

from __future__ import annotations

from sessions.models import McpServer, Project


def forget_mcp_server(project: Project, name: str) -> None:
    """Forget what a server said. Does nothing when it has not been asked yet."""
    McpServer.objects.filter(project=project, name=name).delete()
