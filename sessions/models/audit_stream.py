from __future__ import annotations

from django.db import models
from django.utils import timezone


class AuditCursor(models.Model):
    """How far a chain of the audit log has been sent to a webhook, or to the operators' address.

    The chain itself is the outbox: it has no gaps, and its entries do not change.
    """

    # A webhook's ID, or `SERVER_STREAM`.
    stream = models.CharField(max_length=40)
    chain = models.CharField(max_length=40)
    # The last entry that has arrived.
    seq = models.BigIntegerField(default=0)
    # While it is being sent: when the worker is taken to be dead.
    next_at = models.DateTimeField(default=timezone.now)
    attempts = models.PositiveIntegerField(default=0)
    problem = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["stream", "chain"], name="audit_cursor_of_chain"),
        )

    def __str__(self) -> str:
        return f"{self.stream} {self.chain} {self.seq}"
