from __future__ import annotations

from django.db import models


class ComparedSession(models.Model):
    """One of several sessions that were started with the same prompt, to keep the best of them."""

    session = models.OneToOneField("agent_sessions.Session", models.CASCADE, primary_key=True)
    # The id of the first of them, which may be gone.
    group = models.CharField(max_length=40, db_index=True)
    place = models.PositiveSmallIntegerField()

    def __str__(self) -> str:
        return f"{self.group} {self.place}"
