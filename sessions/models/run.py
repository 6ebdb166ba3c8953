from __future__ import annotations

from django.conf import settings
from django.db import models


class Run(models.Model):
    """The lease on a session: which worker drains it, and until when. Operational, not folded."""

    session = models.OneToOneField(
        "agent_sessions.Session", models.CASCADE, primary_key=True, related_name="run"
    )
    # Name of the worker process, empty when nobody holds the lease.
    owner = models.CharField(max_length=120, blank=True)
    # Rises at every take-over. An append with an older one is refused.
    token = models.BigIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    # When the lease was taken last, and for whose prompt.
    taken_at = models.DateTimeField(null=True)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    # Since when a ring waits that found no place: without it nobody may know what it was for.
    rung_at = models.DateTimeField(null=True)
    stop_requested_at = models.DateTimeField(null=True)
    stop_requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    # They did it as an operator of the installation.
    stop_by_operator = models.BooleanField(default=False)
    # Take-overs from a dead owner since the last turn that ended by itself.
    recoveries = models.PositiveSmallIntegerField(default=0)
    # What is to be done with the files before anything else (`restore_request`), or empty.
    restore = models.JSONField(default=dict)
    # A model has still to be asked for the title, after the first turn.
    title_due = models.BooleanField(default=False)

    class Meta:
        indexes = [
            models.Index(
                fields=["lease_until"],
                condition=~models.Q(lease_until=None),
                name="lease_taken",
            ),
            models.Index(fields=["taken_at"], name="run_taken_at"),
        ]
