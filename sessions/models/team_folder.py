from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class TeamFolder(models.Model):
    """A folder below the worktrees root that only one team may add projects from.

    It outlives the projects in it. Folders of different teams never lie in each other.
    """

    host = models.CharField(max_length=100)
    # Real and absolute.
    path = models.CharField(max_length=1000)
    team = models.ForeignKey("teams.Team", models.CASCADE, related_name="folders")
    # Null for the command line, and for folders that were in use before they were assigned.
    assigned_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    assigned_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["host", "path"], name="one_team_per_folder"),
        ]

    def __str__(self) -> str:
        return self.path
