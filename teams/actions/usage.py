"""Usage and the totals of its periods. The two are written together, so they never differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from opencode_web.lib.compiled import CompiledInsert
from opencode_web.lib.db import lock_table_until_commit
from teams.budgets.spending import GONE, spend_key
from teams.models import Basis, Period, Spend, Team, UsageEntry

_UNIT = Decimal(1).scaleb(-10)
_ENTRIES = CompiledInsert(UsageEntry)
_TOTALS = CompiledInsert(Spend, add=["cost"])


def write_usage(entries: Sequence[UsageEntry]) -> None:
    """Insert entries and raise the totals of their periods.

    Must run inside a transaction, which holds the team's total until it ends.
    """
    _ENTRIES.write(entries)
    _TOTALS.write(_totals(entries))


def entry_beside_sessions(
    call_id: str, *, cost: Decimal, basis: Basis, **more: str | int | None
) -> UsageEntry:
    """Returns: what a call has used that is in no session's log. `more`: columns of the entry."""
    counts = dict.fromkeys(("input", "output", "reasoning", "cache_read", "cache_write"), 0)
    return UsageEntry(
        **{"id": call_id, "cost": cost, "basis": basis, "time": timezone.now(), **counts, **more}
    )


def remove_usage(session_id: str) -> None:
    """Delete the entries of a session and lower the totals of their periods."""
    entries = list(UsageEntry.objects.filter(session=session_id))
    totals = _totals(entries)
    for row in totals:
        row.cost = -row.cost
    _TOTALS.write(totals)
    UsageEntry.objects.filter(session=session_id).delete()


def _totals(entries: Iterable[UsageEntry]) -> list[Spend]:
    """Returns: what is to be added, the team's rows first: everybody locks in this order."""
    sums: defaultdict[tuple[str, Period, date, int | None, str, str], Decimal]
    sums = defaultdict(Decimal)
    for entry in entries:
        # As the column of the entry holds it.
        cost = entry.cost.quantize(_UNIT)
        for period in Period:
            since = (entry.team_id, period, period.first_day(entry.time))
            sums[*since, None, "", ""] += cost
            if entry.user_id is not None:
                sums[*since, entry.user_id, "", ""] += cost
            if entry.project:
                sums[*since, None, entry.project, ""] += cost
            if entry.model:
                sums[*since, None, "", entry.called] += cost
    rows = [
        Spend(
            id=spend_key(team_id, period, start, user_id=user_id, project=project, model=model),
            team_id=team_id,
            user_id=user_id,
            project=project,
            model=model,
            period=period,
            start=start,
            cost=cost,
        )
        for (team_id, period, start, user_id, project, model), cost in sums.items()
        if cost
    ]
    return sorted(rows, key=lambda row: row.id)


def keep_spend(team: Team) -> None:
    """Have the budgets of the server go on counting what a team has spent that is deleted now."""
    starts = [period.first_day() for period in Period]
    rows = Spend.objects.filter(team=team, user=None, project="", model="", start__in=starts)
    kept = [
        Spend(
            id=spend_key(GONE, Period(row.period), row.start),
            period=row.period,
            start=row.start,
            cost=row.cost,
        )
        for row in rows
    ]
    _TOTALS.write(kept)


@dataclass(frozen=True)
class WrongTotal:
    """A total that is not the sum of its entries. Units: USD."""

    id: str
    before: Decimal
    after: Decimal

    def __str__(self) -> str:
        return f"Spend {self.id} was {self.before}, its entries sum to {self.after}"


@transaction.atomic
def rebuild_totals(*, write: bool) -> list[WrongTotal]:
    """Sum all entries up again; without `write` only to compare. Returns: what differed."""
    # Entries are committed with their totals, so between the two reads none can come or go.
    lock_table_until_commit(Spend)
    of_teams = Spend.objects.exclude(team=None)
    before = {row.id: row for row in of_teams}
    counted = ("team_id", "user_id", "project", "provider", "model", "api_model", "cost", "time")
    entries = UsageEntry.objects.only(*counted)
    after = {row.id: row for row in _totals(entries.iterator())}
    wrong = [
        WrongTotal(key, _cost(before.get(key)), _cost(after.get(key)))
        for key in sorted(before.keys() | after.keys())
        if _cost(before.get(key)) != _cost(after.get(key))
    ]
    if write and wrong:
        of_teams.delete()
        _TOTALS.write(list(after.values()))
    return wrong


def _cost(row: Spend | None) -> Decimal:
    return row.cost if row is not None else Decimal(0)
