from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class ShareQuerySet(models.QuerySet["Share"]):
    """Links by state."""

    def open(self, *, now: datetime | None = None) -> ShareQuerySet:
        """Neither revoked nor expired."""
        later = models.Q(expires_at=None) | models.Q(expires_at__gt=now or timezone.now())
        return self.filter(later, revoked_at=None)


class Share(models.Model):
    """A link to a read-only transcript of a session. What opens it is made of its id, not stored:
    see `sessions.shares.links`.
    """

    class Scope(models.TextChoices):
        TEAM = "team", _("Team members")
        PUBLIC = "public", _("Anyone with the link")

    id = models.CharField(primary_key=True, max_length=40)
    session = models.ForeignKey("agent_sessions.Session", models.CASCADE, related_name="shares")
    scope = models.CharField(max_length=6, choices=Scope)
    # Reasoning and what tools read, wrote and said, too; else only that they were called.
    details = models.BooleanField(default=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    # None: until it is revoked.
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    # To the minute.
    opened_at = models.DateTimeField(null=True)

    objects = ShareQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["session", "-created_at"], name="share_list_of_session")]

    def __str__(self) -> str:
        return self.id
