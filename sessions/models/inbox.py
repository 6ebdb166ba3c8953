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
    created_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(
                fields=["session", "admitted_seq"],
                condition=models.Q(status="admitted"),
                name="pending_input",
            ),
        ]
