"""Usage and the totals of its months. The two are written together, so they never differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from opencode_web.lib.compiled import CompiledInsert
from opencode_web.lib.db import lock_table_until_commit
from teams.models import Basis, MonthlySpend, UsageEntry

_UNIT = Decimal(1).scaleb(-10)
_ENTRIES = CompiledInsert(UsageEntry)
_TOTALS = CompiledInsert(MonthlySpend, add=["cost"])


def write_usage(entries: Sequence[UsageEntry]) -> None:
    """Insert entries and raise the totals of their months.

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
    """Delete the entries of a session and lower the totals of their months."""
    entries = list(UsageEntry.objects.filter(session=session_id))
    totals = _totals(entries)
    for row in totals:
        row.cost = -row.cost
    _TOTALS.write(totals)
    UsageEntry.objects.filter(session=session_id).delete()


def _totals(entries: Iterable[UsageEntry]) -> list[MonthlySpend]:
    """Returns: what is to be added, the team's row first: everybody locks in this order."""
    sums: defaultdict[tuple[str, date, int | None], Decimal] = defaultdict(Decimal)
    for entry in entries:
        # As the column of the entry holds it.
        cost, month = entry.cost.quantize(_UNIT), _month(entry.time)
        sums[entry.team_id, month, None] += cost
        if entry.user_id is not None:
            sums[entry.team_id, month, entry.user_id] += cost
    rows = [
        MonthlySpend(
            id=_key(team_id, month, user_id),
            team_id=team_id,
            user_id=user_id,
            month=month,
            cost=cost,
        )
        for (team_id, month, user_id), cost in sums.items()
        if cost
    ]
    return sorted(rows, key=lambda row: row.id)


def _key(team_id: str, month: date, user_id: int | None) -> str:
    key = f"{team_id}.{month:%Y-%m}"
    return key if user_id is None else f"{key}.{user_id}"


def _month(time: datetime) -> date:
    return time.astimezone(UTC).date().replace(day=1)


@dataclass(frozen=True)
class WrongTotal:
    """A total that is not the sum of its entries. Units: USD."""

    id: str
    before: Decimal
    after: Decimal

    def __str__(self) -> str:
        return f"MonthlySpend {self.id} was {self.before}, its entries sum to {self.after}"


@transaction.atomic
def rebuild_totals(*, write: bool) -> list[WrongTotal]:
    """Sum all entries up again; without `write` only to compare. Returns: what differed."""
    # Entries are committed with their totals, so between the two reads none can come or go.
    lock_table_until_commit(MonthlySpend)
    before = {row.id: row for row in MonthlySpend.objects.all()}
    entries = UsageEntry.objects.only("team_id", "user_id", "cost", "time")
    after = {row.id: row for row in _totals(entries.iterator())}
    wrong = [
        WrongTotal(key, _cost(before.get(key)), _cost(after.get(key)))
        for key in sorted(before.keys() | after.keys())
        if _cost(before.get(key)) != _cost(after.get(key))
    ]
    if write and wrong:
        MonthlySpend.objects.all().delete()
        _TOTALS.write(list(after.values()))
    return wrong


def _cost(row: MonthlySpend | None) -> Decimal:
    return row.cost if row is not None else Decimal(0)
