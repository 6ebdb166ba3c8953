"""What a team has used, added up."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from django.db.models import Sum

from teams.models import Team, UsageEntry


def spend_of_members(team: Team, *, since: datetime) -> dict[int, Decimal]:
    """Returns: id of a person -> USD that what they asked for since then has cost."""
    asked = UsageEntry.objects.filter(team=team, time__gte=since, cost__gt=0).exclude(user=None)
    return dict(asked.values_list("user").annotate(Sum("cost")))
