"""When a budget is spent if things go on as they are. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.utils import timezone

from teams.budgets.standings import Standing

# Less of a period says nothing about the rest of it: three days of a month, 2.4 hours of a day.
_LEAST_SHARE = Decimal("0.1")


@dataclass(frozen=True)
class Forecast:
    """A straight line from nothing at the start of the period. `total`: USD at its end.

    `runs_out` is None where the budget lasts until then.
    """

    total: Decimal
    runs_out: datetime | None


def forecast(standing: Standing, *, now: datetime | None = None) -> Forecast | None:
    """Returns: None with too little to go by, and for a budget that is reached or that is 0."""
    now = now or timezone.now()
    start, end = standing.period.start(now), standing.period.end(now)
    elapsed, length = now - start, end - start
    share = Decimal(elapsed // timedelta(seconds=1)) / Decimal(length // timedelta(seconds=1))
    if share < _LEAST_SHARE or not standing.spent or standing.is_reached:
        return None
    total = (standing.spent / share).quantize(Decimal("0.01"))
    if standing.spent / share <= standing.limit:
        return Forecast(total, None)
    return Forecast(total, start + elapsed * float(standing.limit / standing.spent))
