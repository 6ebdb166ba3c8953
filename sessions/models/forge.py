from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from opencode_web.lib.fields import EncryptedTextField


class ProjectForge(models.Model):
    """Where a project's branches are pushed to and its pull requests are opened."""

    project = models.OneToOneField(
        "agent_sessions.Project", models.CASCADE, primary_key=True, related_name="forge"
    )
    # Never holds credentials. Empty for where the project was cloned from.
    remote_url = models.CharField(max_length=1000, blank=True)
    # A `sessions.forges.adapter.ForgeKind`; empty where the host of the remote tells it.
    kind = models.CharField(max_length=10, blank=True)
    # Empty for where such a forge usually has it.
    api_url = models.CharField(max_length=500, blank=True)
    # Encrypted; empty without one. It goes to the remote and its API, never into a sandbox.
    token = EncryptedTextField(blank=True)
    last4 = models.CharField(max_length=4, blank=True)
    updated_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    updated_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.remote_url


class PullRequest(models.Model):
    """A pull request that was opened from a session, as it was when it was looked at last."""

    project = models.ForeignKey(
        "agent_sessions.Project", models.CASCADE, related_name="pull_requests"
    )
    # The one at the top that it was opened from.
    session = models.ForeignKey(
        "agent_sessions.Session", models.SET_NULL, null=True, related_name="pull_requests"
    )
    branch = models.CharField(max_length=250)
    base_branch = models.CharField(max_length=250)
    number = models.PositiveIntegerField()
    # http or https.
    url = models.CharField(max_length=1000)
    title = models.CharField(max_length=300)
    # A `PullState` and a `Checks` of `sessions.forges.adapter`.
    state = models.CharField(max_length=10)
    checks = models.CharField(max_length=10, blank=True)
    # How many of them say what: {"passed", "failed", "running"}, where a forge counts them.
    check_counts = models.JSONField(default=dict)
    opened_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    created_at = models.DateTimeField(default=timezone.now)
    looked_at = models.DateTimeField(default=timezone.now)
    # Why it could not be looked at, for people.
    problem = models.TextField(blank=True)
    # The same as a reason with its values; empty for a whole sentence of the catalogues.
    cause = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "url"], name="one_row_per_pull_request"),
        ]
        indexes = [
            models.Index(fields=["session", "-created_at"], name="pull_requests_of_session"),
        ]

    def __str__(self) -> str:
        return f"#{self.number}"
