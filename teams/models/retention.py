from __future__ import annotations

from django.db import models

from teams.models.team import Team


class RetentionDays(models.Model):
    """For how many days things are kept; none for as long as nobody deletes them."""

    # Since a session, with all its sub-agents, was last active.
    session_days = models.PositiveIntegerField(null=True)
    # Of a tool's output that is too long for the model: the file with the whole of it.
    output_days = models.PositiveIntegerField(null=True)
    audit_days = models.PositiveIntegerField(null=True)

    class Meta:
        abstract = True


class RetentionPolicy(RetentionDays):
    """What a team has chosen. A team without a row has `retention.days.USUAL`."""

    team = models.OneToOneField(Team, models.CASCADE, primary_key=True, related_name="retention")

    def __str__(self) -> str:
        return self.team_id


class RetentionLimit(RetentionDays):
    """The most that any team may keep, and what holds for the server's own audit log. One row, or
    none without a limit."""

    def __str__(self) -> str:
        return "Retention limit"
