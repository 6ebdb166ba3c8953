from __future__ import annotations

from django.db import models


class TokenDefault(models.Model):
    """The project that requests with a token are about when they name none."""

    token = models.OneToOneField(
        "teams.ApiToken", models.CASCADE, primary_key=True, related_name="+"
    )
    project = models.ForeignKey("agent_sessions.Project", models.CASCADE, related_name="+")

    def __str__(self) -> str:
        return f"{self.token_id}: {self.project_id}"
