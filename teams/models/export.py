from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.ids import new_id
from teams.models.team import Team


def new_export_id() -> str:
    """Named, because the migration refers to it."""
    return new_id("exp")


class TeamExport(models.Model):
    """An archive of a team that an owner has asked for. Its file goes when it expires."""

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")

    id = models.CharField(primary_key=True, max_length=40, default=new_export_id, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="exports")
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    # Of steps: the sessions together, and each project.
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    # Where the file is.
    host = models.CharField(max_length=100, blank=True, default="")
    size_bytes = models.BigIntegerField(default=0)
    # What has to be set again after an import.
    again: models.JSONField[list[str], list[str]] = models.JSONField(default=list)
    problem = models.CharField(max_length=500, blank=True, default="")
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()

    class Meta:
        constraints = (
            # One at a time: each copies all files.
            models.UniqueConstraint(
                fields=["team"],
                condition=models.Q(state__in=("waiting", "running")),
                name="teams_export_once",
            ),
        )

    def __str__(self) -> str:
        return f"{self.id}: {self.state}"

    def is_ready(self, *, now: datetime | None = None) -> bool:
        """Whether there is a file."""
        return self.state == self.State.DONE and self.expires_at > (now or timezone.now())
