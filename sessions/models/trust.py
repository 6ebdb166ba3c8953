from __future__ import annotations

from django.conf import settings
from django.db import models


class RepositoryTrust(models.Model):
    """An administrator's word for the agents, commands and tools of a repository, as they were.

    It counts as long as the files have this digest.
    """

    project = models.OneToOneField("agent_sessions.Project", models.CASCADE, related_name="trust")
    digest = models.CharField(max_length=64)
    # Path to digest, to show later what has changed.
    files = models.JSONField(default=dict)
    trusted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    trusted_at = models.DateTimeField()
    # How often somebody has had the plugins loaded anew.
    reloads = models.PositiveIntegerField(default=0, db_default=0)
