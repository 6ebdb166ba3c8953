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
    # When a command of an agent last had it, to the hour.
    used_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="one_secret_of_a_name"),
        ]

    def __str__(self) -> str:
        return self.name


class TeamSecret(models.Model):
    """The same for all projects of a team, or for `projects`. One of a project goes before it."""

    team = models.ForeignKey("teams.Team", models.CASCADE, related_name="secrets")
    name = models.CharField(max_length=100)
    value = EncryptedTextField()
    everywhere = models.BooleanField(default=True)
    projects = models.ManyToManyField("agent_sessions.Project", related_name="team_secrets")
    updated_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    updated_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], name="one_team_secret_of_a_name"),
        ]

    def __str__(self) -> str:
        return self.name


class AllowedKey(models.Model):
    """What looks like a key and is none: somebody has said so for a project. It is not hidden."""

    project = models.ForeignKey("agent_sessions.Project", models.CASCADE, related_name="allowed")
    # Keyed hash of the value.
    fingerprint = models.CharField(max_length=64)
    allowed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    allowed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "fingerprint"], name="one_allowed_key"),
        ]

    def __str__(self) -> str:
        return self.fingerprint[:8]


class HeldInput(models.Model):
    """The arguments of a call as the model gave them, until the call has ended, where its part in
    the log has marks in the place of keys: what is written to disk must not change."""

    part = models.CharField(primary_key=True, max_length=40)
    session = models.ForeignKey("agent_sessions.Session", models.CASCADE, related_name="+")
    # JSON.
    arguments = EncryptedTextField()

    def __str__(self) -> str:
        return self.part
