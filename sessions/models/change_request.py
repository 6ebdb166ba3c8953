from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.fields import EncryptedTextField
from teams.models import Role


class ChangeKind(models.TextChoices):
    """What a team can have a second person approve."""

    MERGE = "merge", _("Merges")
    PUSH = "push", _("Pushes and pull requests")
    SECRETS = "secrets", _("Secrets")
    RULES = "rules", _("Permission rules")
    BUDGETS = "budgets", _("Higher budgets")
    # That one of the others is no longer asked for.
    POLICY = "policy", _("Approvals")


class ChangeRequest(models.Model):
    """A change that somebody wants to make and a second person has to approve first."""

    class Status(models.TextChoices):
        PENDING = "pending", _("Waiting")
        APPROVED = "approved", _("Approved")
        REJECTED = "rejected", _("Rejected")
        WITHDRAWN = "withdrawn", _("Withdrawn")
        EXPIRED = "expired", _("Expired")
        # Approved, and could not be made any more.
        FAILED = "failed", _("No longer fits")

    id = models.CharField(primary_key=True, max_length=40)
    team = models.ForeignKey("teams.Team", models.CASCADE, related_name="change_requests")
    project = models.ForeignKey(
        "agent_sessions.Project", models.CASCADE, null=True, related_name="change_requests"
    )
    kind = models.CharField(max_length=10, choices=ChangeKind)
    # One of `sessions.actions.change_approval`.
    what = models.CharField(max_length=40)
    # The role that the change itself needs: of who asks and of who decides.
    need = models.CharField(max_length=8, choices=Role)
    asker = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    reason = models.CharField(max_length=500, blank=True, default="")
    # JSON, encrypted: it can hold the value of a secret. Gone once it is decided.
    arguments = EncryptedTextField(blank=True, default="")
    # What people are shown of it: names and amounts before and after, never the value of a secret.
    told = models.JSONField(default=dict)
    # Of what the change was asked for upon.
    fingerprint = models.CharField(max_length=64)
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True)
    note = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        indexes = [
            models.Index(fields=["team", "status", "-created_at"], name="change_requests_of_team"),
            models.Index(
                fields=["expires_at"],
                condition=models.Q(status="pending"),
                name="change_requests_that_expire",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id}: {self.what} {self.status}"
