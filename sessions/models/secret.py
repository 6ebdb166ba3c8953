from __future__ import annotations

from django.conf import settings
from django.db import models

from opencode_web.lib.fields import EncryptedTextField


class ProjectSecret(models.Model):
    """A variable of the environment of a project's commands, whose value nobody is shown again."""

    project = models.ForeignKey("agent_sessions.Project", models.CASCADE, related_name="secrets")
    name = models.CharField(max_length=100)
    # Encrypted. It goes into the project's sandboxes and nowhere else.
    value = EncryptedTextField()
    updated_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="one_secret_of_a_name"),
        ]

    def __str__(self) -> str:
        return self.name
