from __future__ import annotations

from django.conf import settings
from django.db import models


class SessionInput(models.Model):
    """An Admitted Prompt: accepted and durable, not yet part of the history."""

    class Delivery(models.TextChoices):
        STEER = "steer"
        QUEUE = "queue"

    class Status(models.TextChoices):
        ADMITTED = "admitted"
        PROMOTED = "promoted"
        CANCELLED = "cancelled"

    # Also the id of the user message that it becomes.
    id = models.CharField(primary_key=True, max_length=60)
    session = models.ForeignKey("agent_sessions.Session", models.CASCADE, related_name="inputs")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    delivery = models.CharField(max_length=5, choices=Delivery)
    status = models.CharField(max_length=10, choices=Status, default=Status.ADMITTED)
    # {"info": UserMessage, "parts": [Part, …]}: what promotion appends.
    data = models.JSONField()
    admitted_seq = models.BigIntegerField()
    # Where it stands among those that wait: as admitted, until somebody orders them otherwise.
    position = models.BigIntegerField()
    # Rises with every change of its content or delivery. Who changes it says which one they saw.
    revision = models.PositiveIntegerField(default=0)
    # Who wrote the text as it is now, when that is not the author.
    edited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    promoted_seq = models.BigIntegerField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(
                fields=["session", "position"],
                condition=models.Q(status="admitted"),
                name="pending_input",
            ),
            models.Index(
                fields=["session", "promoted_seq"],
                condition=models.Q(status="promoted"),
                name="promoted_input",
            ),
        ]
