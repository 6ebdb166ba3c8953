from __future__ import annotations

from typing import Self, TypeVar

from django.conf import settings
from django.db import models

from sessions.models.session import Session

_Row = TypeVar("_Row", bound=models.Model, covariant=True)


class HistoryQuerySet(models.QuerySet[_Row]):
    """Rows of a session in the order of the log."""

    def visible(self, session: Session) -> Self:
        """What people and models see of a session: without what is rolled back."""
        return self.filter(session=session, seq__lt=session.visible_before)

    def hidden(self, session: Session) -> Self:
        """What is rolled back."""
        return self.filter(session=session, seq__gte=session.visible_before)


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

    objects = HistoryQuerySet.as_manager()

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

    objects = HistoryQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["message", "seq", "id"], name="part_order"),
            models.Index(fields=["session", "seq"], name="part_order_in_session"),
            models.Index(fields=["session", "type"], name="part_type_in_session"),
        ]
