from __future__ import annotations

from django.db import models


class ContextEpoch(models.Model):
    """What the model of a session was told by the system, from one baseline to the next.

    The baseline never changes within an epoch, so that a provider's prompt cache holds; what
    changes is told by messages in mid-conversation.
    """

    session = models.OneToOneField(
        "agent_sessions.Session", models.CASCADE, primary_key=True, related_name="epoch"
    )
    # Counts the epochs of the session from 1.
    revision = models.PositiveIntegerField()
    # Why it is over and the next turn begins another, or empty while it holds.
    ended = models.CharField(max_length=20, blank=True)
    # [text, …]: the system blocks of every request of this epoch, byte for byte.
    baseline = models.JSONField()
    # {key of a Context Source: the value that the model knows}
    snapshot = models.JSONField()
    # [{"id", "seq", "text"}]: Mid-Conversation System Messages in order.
    updates = models.JSONField(default=list)
    # Sequence number of the event that began it.
    baseline_seq = models.BigIntegerField()
