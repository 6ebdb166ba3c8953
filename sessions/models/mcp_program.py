from __future__ import annotations

from django.conf import settings
from django.db import models


class McpProgram(models.Model):
    """An admin's word for the files of a worktree that an MCP server runs, as they were.

    It counts as long as they have this digest.
    """

    project = models.ForeignKey(
        "agent_sessions.Project", models.CASCADE, related_name="mcp_programs"
    )
    name = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)
    accepted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    accepted_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "name"], name="one_word_per_mcp_program_of_a_project"
            ),
        ]
