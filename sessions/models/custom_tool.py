from __future__ import annotations

from django.db import models


class ToolDescription(models.Model):
    """What the tools and plugins of a repository said about themselves, with these files.

    Asked for once in the sandbox, so that no turn has to start a process to know them.
    """

    project = models.ForeignKey(
        "agent_sessions.Project", models.CASCADE, related_name="tool_descriptions"
    )
    digest = models.CharField(max_length=64)
    # {name, path, export, description, parameters} each, and `of_plugin` for those of plugins.
    tools = models.JSONField(default=list)
    # {path, hooks} each, and `failed` with the reason for those that could not be loaded.
    plugins = models.JSONField(default=list)
    # How often a plugin, by its path, has taken too long.
    late = models.JSONField(default=dict)
    # {path, reason} each.
    problems = models.JSONField(default=list)
    described_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "digest"], name="one_description_per_tools_digest"
            ),
        ]
