from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class Pin(models.Model):
    """A session that somebody keeps at the top of their own list. Nobody else sees it."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    session = models.ForeignKey("agent_sessions.Session", models.CASCADE, related_name="pins")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["user", "session"], name="pin_once_for_a_person"),
        )

    def __str__(self) -> str:
        return f"{self.user_id}: {self.session_id}"
