from __future__ import annotations

from django.db import models


class TodoList(models.Model):
    """What the agent of a session is going to do, as it said last. Without a row it said nothing.

    One row for all items: they are only ever replaced and read together.
    """

    session = models.OneToOneField(
        "agent_sessions.Session", models.CASCADE, primary_key=True, related_name="todo_list"
    )
    # [{"content", "status", "priority"}, …] as on the wire.
    items = models.JSONField()
    # Sequence number of the event that wrote it: which turn it belongs to.
    seq = models.BigIntegerField()
