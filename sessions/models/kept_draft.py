from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class KeptDraft(models.Model):
    """What somebody has typed and not sent: in a session, or for a new one of a project.

    An empty one says that what was typed before its time is sent or cleared, on every device.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    project = models.ForeignKey("agent_sessions.Project", models.CASCADE, related_name="+")
    session = models.ForeignKey(
        "agent_sessions.Session", models.CASCADE, null=True, related_name="+"
    )
    text = models.TextField(blank=True)
    # The agent, model and variant that the next message is for, by these names.
    choices = models.JSONField(default=dict, db_default={})
    typed_at = models.DateTimeField()
    saved_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "session"],
                condition=models.Q(session__isnull=False),
                name="kept_draft_of_session",
            ),
            models.UniqueConstraint(
                fields=["user", "project"],
                condition=models.Q(session=None),
                name="kept_draft_of_new_session",
            ),
        ]
        # For pruning.
        indexes = [models.Index(fields=["saved_at"], name="kept_draft_by_age")]

    def __str__(self) -> str:
        return f"draft {self.pk}"
