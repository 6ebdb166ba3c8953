from __future__ import annotations

from django.db import models
from django.utils import timezone

from opencode_web.lib.ids import new_id
from teams.models.membership import Membership
from teams.models.team import Team


def new_team_group_id() -> str:
    """Named, because the migration refers to it."""
    return new_id("tgr")


class TeamGroup(models.Model):
    """People of a team who are given access together. Whoever leaves the team leaves it, too."""

    id = models.CharField(
        primary_key=True, max_length=40, default=new_team_group_id, editable=False
    )
    team = models.ForeignKey(Team, models.CASCADE, related_name="groups")
    name = models.CharField(max_length=80)
    # Whether its people are among those who allow what needs a second person.
    is_approver = models.BooleanField(default=False)
    members = models.ManyToManyField(Membership, related_name="groups")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["team", "name"], name="teams_group_name_once"),
        )

    def __str__(self) -> str:
        return self.name
