from __future__ import annotations

from django.conf import settings
from django.db import models


class McpServer(models.Model):
    """What an MCP server said in the sandbox of a project, with settings of this digest.

    Kept for a while, so that not every turn has to start its program to know it.
    """

    project = models.ForeignKey(
        "agent_sessions.Project", models.CASCADE, related_name="mcp_servers"
    )
    name = models.CharField(max_length=64)
    # To whom it said this, where each may sign in to it on their own.
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="+")
    digest = models.CharField(max_length=64)
    # {name, remote, description, parameters} each; `remote` is how the server itself calls it.
    tools = models.JSONField(default=list)
    # {name, description, template, hints} each, as commands have them.
    prompts = models.JSONField(default=list)
    # {name, uri, description, mimeType} each; None when it knows no resources.
    resources = models.JSONField(null=True)
    # What it says of itself to agents.
    instructions = models.TextField(default="")
    # Why it waits for a person: one of `sessions.mcp.servers`, or nothing.
    state = models.CharField(max_length=30, blank=True)
    # What is wrong with it, or with some of its tools, in sentences.
    error = models.TextField(default="")
    problems = models.JSONField(default=list)
    asked_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "name"],
                condition=models.Q(user=None),
                name="one_row_per_mcp_server_of_a_project",
            ),
            models.UniqueConstraint(
                fields=["project", "user", "name"], name="one_row_per_mcp_server_of_a_person"
            ),
        ]
