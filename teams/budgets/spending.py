"""What is spent in a period: the keys of its sums, and how they are read."""

from __future__ import annotations

import hashlib
from datetime import date
from decimal import Decimal
from fnmatch import fnmatchcase

from teams.models import Period, Spend, Team

# Stands for teams that are deleted, in the place of the id of one.
GONE = "gone"


def spend_key(
    team_id: str,
    period: Period,
    start: date,
    *,
    user_id: int | None = None,
    project: str = "",
    model: str = "",
) -> str:
    """Returns: the key of the sum of a team, or of one member, project or model of it."""
    key = f"{team_id}.{period.key(start)}"
    if user_id is not None:
        return f"{key}.{user_id}"
    if model:
        # The name itself may be of any length.
        return f"{key}.model-{hashlib.sha256(model.encode()).hexdigest()[:32]}"
    return f"{key}.{project}" if project else key


def spent_at(keys: list[str]) -> dict[str, Decimal]:
    """Returns: USD by key, of those that have spent anything."""
    return dict(Spend.objects.filter(pk__in=keys).values_list("pk", "cost"))


def is_counted(pattern: str, name: str) -> bool:
    """Whether a budget of models counts the one of this name. Patterns as in `limits.models`."""
    return fnmatchcase(name, pattern)


def spent_on_models(team_id: str, period: Period, pattern: str) -> Decimal:
    """Returns: USD that a team has spent on the models of a pattern in the period that is now."""
    rows = Spend.objects.filter(team=team_id, period=period, start=period.first_day())
    of_models = rows.exclude(model="").values_list("model", "cost")
    return sum((cost for name, cost in of_models if is_counted(pattern, name)), Decimal(0))


def spent_by_all(period: Period) -> Decimal:
    """Returns: USD that all teams have spent in the period that is now, with those deleted."""
    rows = Spend.objects.filter(
        user=None, project="", model="", period=period, start=period.first_day()
    )
    # Added up here: SQLite would do it in floating point.
    return sum(rows.values_list("cost", flat=True), Decimal(0))


def spent_this_month(team: Team) -> dict[int | None, Decimal]:
    """Returns: id of a person -> USD that what they asked for has cost; None -> all together."""
    period = Period.MONTH
    rows = Spend.objects.filter(
        team=team, project="", model="", period=period, start=period.first_day()
    )
    return dict(rows.values_list("user", "cost"))
