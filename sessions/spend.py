"""What the sessions of a team's members cost, for the page of members."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from django.db.models import Sum

from sessions.models import Session
from teams.models import Team
from teams.spend import register


@register
def spend_of_owners(team: Team, *, since: datetime) -> dict[int, Decimal]:
    """Returns: id of a person -> USD of the sessions that they have begun since then."""
    begun = Session.objects.filter(project__team=team, created_at__gte=since, cost__gt=0)
    rows = begun.exclude(owner=None).order_by().values_list("owner").annotate(Sum("cost"))
    return dict(rows)
