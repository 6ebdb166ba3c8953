from __future__ import annotations

from django.conf import settings
from django.db import models


class Message(models.Model):
    """A user or assistant message.

    `data` is its wire shape (`info`), so a read is no conversion.
    """

    # Clients may choose it.
    id = models.CharField(primary_key=True, max_length=60)
    session = models.ForeignKey("agent_sessions.Session", models.CASCADE, related_name="messages")
    role = models.CharField(max_length=10)
    # Sequence number of the event that made it: the order in the conversation.
    seq = models.BigIntegerField()
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    data = models.JSONField()

    class Meta:
        indexes = [models.Index(fields=["session", "seq"], name="message_order")]


class Part(models.Model):
    """A piece of a message. `data` is its wire shape."""

    id = models.CharField(primary_key=True, max_length=60)
    message = models.ForeignKey("agent_sessions.Message", models.CASCADE, related_name="parts")
    session = models.ForeignKey("agent_sessions.Session", models.CASCADE, related_name="parts")
    type = models.CharField(max_length=20)
    seq = models.BigIntegerField()
    data = models.JSONField()

    class Meta:
        indexes = [
            models.Index(fields=["message", "seq", "id"], name="part_order"),
            models.Index(fields=["session", "type"], name="part_type_in_session"),
        ]
