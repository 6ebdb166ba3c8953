"""What MCP servers said, forgotten: so that the next turn asks them again, or for good."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from sessions.config.effective import config_data
from sessions.mcp.servers import servers_in
from sessions.models import McpServer, Project


def forget_mcp_server(project: Project, name: str, user_id: int | None) -> None:
    """Forget what a server said to all or to this person. Does nothing when it was not asked."""
    rows = McpServer.objects.filter(Q(user=None) | Q(user=user_id), project=project, name=name)
    rows.delete()


def forget_removed_servers(rows: QuerySet[McpServer]) -> None:
    """Forget those of these servers that no settings of their project name any more."""
    gone = [
        row.pk
        for row in rows.select_related("project__team")
        if row.name not in servers_in(config_data(row.project))
    ]
    McpServer.objects.filter(pk__in=gone).delete()
