from __future__ import annotations

from django.conf import settings
from django.db import models


class TeamSkill(models.Model):
    """A skill that every project of a team has; admins write it."""

    team = models.ForeignKey("teams.Team", models.CASCADE, related_name="skills")
    name = models.CharField(max_length=64)
    description = models.CharField(max_length=1024)
    text = models.TextField()
    updated_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], name="one_team_skill_per_name"),
        ]

    def __str__(self) -> str:
        return self.name


class SkillIndex(models.Model):
    """The skills behind an address that the settings name, as they were when it was read last."""

    team = models.ForeignKey("teams.Team", models.CASCADE, related_name="skill_indexes")
    # SHA-256 of the address in hex: an address is too long for an index.
    key = models.CharField(max_length=64)
    url = models.TextField()
    # [{"name", "description", "text", "address"}]
    skills = models.JSONField(default=list)
    # Why it, or one of them, could not be read: sentences for people.
    problems = models.JSONField(default=list)
    tried_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "key"], name="one_index_per_address"),
        ]

    def __str__(self) -> str:
        return self.url
