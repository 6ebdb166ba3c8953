from __future__ import annotations

from decimal import Decimal

from django.db import models


class ServerSample(models.Model):
    """What the whole server did in one minute, or in one hour of minutes. Operational.

    Minutes are kept for a day and hours for 90: some 3,600 rows, about a megabyte. Units: seconds,
    US dollars, tokens.
    """

    MINUTE_S, HOUR_S = 60, 3600

    step_s = models.PositiveIntegerField()
    start = models.DateTimeField()
    # At the end of the minute, or the mean of an hour.
    running = models.FloatField()
    queued = models.FloatField()
    workers = models.FloatField()
    # The longest that a session had waited for a worker.
    queue_age_s = models.FloatField()
    responses = models.PositiveIntegerField()
    failures = models.PositiveIntegerField()
    cost = models.DecimalField(max_digits=18, decimal_places=10, default=Decimal(0))
    # By the id of the team, which may be gone.
    tokens = models.JSONField(default=dict)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["step_s", "start"], name="server_sample_once"),
        )

    def __str__(self) -> str:
        return f"{self.start:%Y-%m-%dT%H:%MZ} {self.step_s}"
