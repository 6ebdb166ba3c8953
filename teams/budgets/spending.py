"""What is spent in a period: the keys of its sums, and how they are read."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from teams.models import Period, Spend, Team

# Stands for teams that are deleted, in the place of the id of one.
GONE = "gone"


def spend_key(
    team_id: str, period: Period, start: date, *, user_id: int | None = None, project: str = ""
) -> str:
    """Returns: the key of the sum of a team, or of one member or project of it."""
    key = f"{team_id}.{period.key(start)}"
    if user_id is not None:
        return f"{key}.{user_id}"
    return f"{key}.{project}" if project else key


def spent_at(keys: list[str]) -> dict[str, Decimal]:
    """Returns: USD by key, of those that have spent anything."""
    return dict(Spend.objects.filter(pk__in=keys).values_list("pk", "cost"))


def spent_by_all(period: Period) -> Decimal:
    """Returns: USD that all teams have spent in the period that is now, with those deleted."""
    rows = Spend.objects.filter(user=None, project="", period=period, start=period.first_day())
    # Added up here: SQLite would do it in floating point.
    return sum(rows.values_list("cost", flat=True), Decimal(0))


def spent_this_month(team: Team) -> dict[int | None, Decimal]:
    """Returns: id of a person -> USD that what they asked for has cost; None -> all together."""
    period = Period.MONTH
    rows = Spend.objects.filter(team=team, project="", period=period, start=period.first_day())
    return dict(rows.values_list("user", "cost"))
