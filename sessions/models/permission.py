from __future__ import annotations

from django.conf import settings
from django.db import models


class PermissionRequest(models.Model):
    """A tool call that waits for a person. The first answer wins."""

    class Status(models.TextChoices):
        PENDING = "pending"
        ONCE = "once"
        ALWAYS = "always"
        REJECT = "reject"
        # The turn was stopped before anybody answered.
        CANCELLED = "cancelled"
        # Nobody answered before its deadline.
        EXPIRED = "expired"

    id = models.CharField(primary_key=True, max_length=40)
    session = models.ForeignKey(
        "agent_sessions.Session", models.CASCADE, related_name="permissions"
    )
    message_id = models.CharField(max_length=60)
    call_id = models.CharField(max_length=200)
    # The agent of the turn that issued the call; a later switch does not change its policy.
    agent = models.CharField(max_length=60)
    permission = models.CharField(max_length=100)
    patterns = models.JSONField(default=list)
    always = models.JSONField(default=list)
    metadata = models.JSONField(default=dict)
    # Whose rule asks, in words; empty where it is not a rule that asks.
    source = models.TextField(blank=True, default="")
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING)
    feedback = models.TextField(blank=True)
    replied_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    created_at = models.DateTimeField()
    # Only where the settings set a deadline.
    expires_at = models.DateTimeField(null=True)
    replied_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["session"],
                condition=models.Q(status="pending"),
                name="pending_permission",
            ),
            models.Index(fields=["session", "call_id"], name="permission_of_call"),
        ]


class SavedRule(models.Model):
    """An "always" answer, kept for the project until somebody revokes it."""

    project = models.ForeignKey("agent_sessions.Project", models.CASCADE, related_name="rules")
    permission = models.CharField(max_length=100)
    pattern = models.TextField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "permission", "pattern"], name="one_saved_rule_per_pattern"
            ),
        ]
