from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from opencode_web.lib.fields import OrderedJSONField


class Project(models.Model):
    """A git worktree that a team works in.

    Its id is surrogate: nothing is derived from its path.
    """

    class Source(models.TextChoices):
        GIT = "git"
        FOLDER = "folder"
        EMPTY = "empty"
        SAMPLE = "sample"

    class Status(models.TextChoices):
        PREPARING = "preparing"
        READY = "ready"
        FAILED = "failed"

    id = models.CharField(primary_key=True, max_length=40)
    team = models.ForeignKey("teams.Team", models.CASCADE, related_name="projects")
    name = models.CharField(max_length=120)
    # The Location: the host that has the files, and their absolute path there.
    host = models.CharField(max_length=100)
    directory = models.CharField(max_length=1000)
    source = models.CharField(max_length=10, choices=Source)
    # Never holds credentials.
    git_url = models.CharField(max_length=1000, blank=True)
    status = models.CharField(max_length=10, choices=Status, default=Status.READY)
    # What the clone says while PREPARING, or why it FAILED.
    status_detail = models.TextField(blank=True)
    # The shape of opencode.json, validated by sessions.config.model.
    config = OrderedJSONField(default=dict)
    # What its folder, worktrees and snapshots took up when they were measured last.
    disk_bytes = models.BigIntegerField(default=0)
    # How clients draw it, {"url"?, "override"?, "color"?}.
    icon = models.JSONField(default=dict)
    # Whether only its `project_members` see it, and not the whole team.
    is_restricted = models.BooleanField(default=False, db_default=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["host", "directory"], name="one_project_per_location"),
        ]
        indexes = [models.Index(fields=["team", "name"], name="project_list_of_team")]

    def __str__(self) -> str:
        return self.name
