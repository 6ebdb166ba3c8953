"""What a team has used, added up. A day is one of UTC, like all times of the server."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import TruncDate

from opencode_web.lib.days import end_of, start_of
from teams.models import Basis, Team, UsageEntry

# Days of one answer: each is a bar.
MAX_DAYS = 366
# Stands for those whose account is gone.
GONE = 0


@dataclass(frozen=True)
class Asked:
    """Which entries. `until` is the last day; `model` is "provider/model", empty for any."""

    since: date
    until: date
    member: int | None = None
    model: str = ""
    project: str = ""

    @property
    def days(self) -> list[date]:
        count = (self.until - self.since).days + 1
        return [self.since + timedelta(days=number) for number in range(count)]

    def before(self) -> Asked:
        """As many days just before."""
        length = self.until - self.since + timedelta(days=1)
        return replace(self, since=self.since - length, until=self.until - length)


@dataclass(frozen=True)
class Used:
    """A sum of entries: answers of models are `calls`, prompts `turns`. Units: USD; tokens."""

    cost: Decimal = Decimal(0)
    calls: int = 0
    turns: int = 0
    input: int = 0
    output: int = 0
    reasoning: int = 0
    cache_read: int = 0
    cache_write: int = 0
    # Of the cost, what is the most that calls may have cost which did not come to their end.
    bound: Decimal = Decimal(0)
    # Of the calls, those of models whose price is not known: they are not in the cost.
    unpriced: int = 0

    @property
    def known_cost(self) -> Decimal | None:
        """The cost; None where none of it is known, which is not the same as nothing."""
        return None if self.unpriced and not self.cost else self.cost

    @property
    def tokens(self) -> int:
        return self.input + self.output + self.reasoning + self.cache_read + self.cache_write


_COUNTS = ("input", "output", "reasoning", "cache_read", "cache_write")
# By names that are none of columns.
_SUMS: dict[str, Any] = {
    "sum_cost": Sum("cost", default=Decimal(0)),
    "sum_calls": Count("id"),
    "sum_turns": Count("prompt", distinct=True, filter=~Q(prompt="")),
    "sum_bound": Sum("cost", filter=Q(basis=Basis.BOUND), default=Decimal(0)),
    "sum_unpriced": Count("id", filter=Q(basis=Basis.UNPRICED)),
    **{f"sum_{name}": Sum(name, default=0) for name in _COUNTS},
}


def find_usage(team: Team, asked: Asked) -> QuerySet[UsageEntry]:
    """Returns: the entries that are asked for."""
    entries = UsageEntry.objects.filter(
        team=team, time__gte=start_of(asked.since), time__lt=end_of(asked.until)
    )
    if asked.member is not None:
        entries = entries.filter(user=asked.member or None)
    if asked.model:
        provider, _, model = asked.model.partition("/")
        entries = entries.filter(provider=provider, model=model)
    return entries.filter(project=asked.project) if asked.project else entries


def add_up(entries: QuerySet[UsageEntry]) -> Used:
    """Returns: everything together."""
    return _used(entries.aggregate(**_SUMS))


def by_day(entries: QuerySet[UsageEntry]) -> dict[date, Used]:
    """Returns: the sum of each day that has entries."""
    return {key[0]: used for key, used in by(entries, "day")}


def by(entries: QuerySet[UsageEntry], *columns: str) -> list[tuple[tuple[Any, ...], Used]]:
    """Returns: the values of the columns with their sum, the most expensive first.

    A column is one of the entry, or `day`.
    """
    if "day" in columns:
        entries = entries.annotate(day=TruncDate("time", tzinfo=UTC))
    rows = entries.order_by().values(*columns).annotate(**_SUMS)
    sums = [(tuple(row[column] for column in columns), _used(row)) for row in rows]
    return sorted(sums, key=lambda one: (-one[1].cost, -one[1].tokens, str(one[0])))


def _used(row: dict[str, Any]) -> Used:
    return Used(**{name.removeprefix("sum_"): row[name] for name in _SUMS})
