from __future__ import annotations

from django.db import models


class Event(models.Model):
    """One entry of a session's log. The log is the truth; it is only ever appended to."""

    # Also the cursor of streams over many sessions. Values can commit out of order.
    id = models.BigAutoField(primary_key=True)
    session = models.ForeignKey("agent_sessions.Session", models.CASCADE, related_name="events")
    seq = models.BigIntegerField()
    type = models.CharField(max_length=60)
    schema_version = models.PositiveSmallIntegerField(default=1)
    data = models.JSONField()
    time = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "seq"], name="event_seq_in_session"),
        ]
