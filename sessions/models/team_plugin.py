from __future__ import annotations

from django.conf import settings
from django.db import models


class TeamPlugin(models.Model):
    """An npm package that is a plugin, in one version, as it was pinned.

    Every project of the team loads it once an administrator has trusted it, until it is removed.
    One without a team is the server's: operators trust it, and the projects of all teams load it.
    """

    team = models.ForeignKey("teams.Team", models.CASCADE, related_name="plugins", null=True)
    name = models.CharField(max_length=214)
    version = models.CharField(max_length=128)
    # SHA-256 over all that it consists of; empty while it is not pinned.
    digest = models.CharField(max_length=64, blank=True)
    # {path, version, address, integrity} each: it and what it needs.
    packages = models.JSONField(default=list)
    # Names of hooks in its texts.
    hooks = models.JSONField(default=list)
    # Why it could not be pinned, as a sentence.
    problem = models.TextField(blank=True)
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    added_at = models.DateTimeField()
    trusted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    trusted_at = models.DateTimeField(null=True)
    # How often somebody has had it loaded anew.
    reloads = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "name", "version"], name="one_team_plugin_per_version"
            ),
            models.UniqueConstraint(
                fields=["team", "name"],
                condition=models.Q(trusted_at__isnull=False),
                name="one_trusted_version_of_a_team_plugin",
            ),
            models.UniqueConstraint(
                fields=["name", "version"],
                condition=models.Q(team=None),
                name="one_server_plugin_per_version",
            ),
            models.UniqueConstraint(
                fields=["name"],
                condition=models.Q(team=None, trusted_at__isnull=False),
                name="one_trusted_version_of_a_server_plugin",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"
