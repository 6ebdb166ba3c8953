from __future__ import annotations

from django.db import models


class RunningCommand(models.Model):
    """A command that runs or waits, where those of its team are limited. Operational, not folded.

    It counts for as long as the lease with which it was started is held.
    """

    id = models.BigAutoField(primary_key=True)
    team = models.ForeignKey("teams.Team", models.CASCADE, related_name="+")
    run = models.ForeignKey("agent_sessions.Run", models.CASCADE, related_name="commands")
    # Of the lease.
    token = models.BigIntegerField()
