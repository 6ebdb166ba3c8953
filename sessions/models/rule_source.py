from __future__ import annotations

from django.db import models

from opencode_web.lib.fields import OrderedJSONField


class RuleSource(models.Model):
    """What could last be read of the rules of one level, and what is wrong with them now."""

    # `instance`, `team:<id>`, `project:<id>`, `repository:<project id>:<folder>`.
    key = models.CharField(primary_key=True, max_length=200)
    team = models.ForeignKey("teams.Team", models.CASCADE, null=True)
    project = models.ForeignKey("agent_sessions.Project", models.CASCADE, null=True)
    # The keys of settings that hold rules; null when they could never be read.
    good = OrderedJSONField(null=True)
    good_at = models.DateTimeField(null=True)
    # Why the rules that stand there now cannot be read; empty when they can.
    problem = models.TextField(blank=True, default="")

    def __str__(self) -> str:
        return self.key
