"""Fold a session's log again, and say in what its rows had come to differ from it."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from sessions.events.replay import Rows, read_rows, rebuild
from sessions.events.store import lock_session
from sessions.models import State


@dataclass(frozen=True)
class Difference:
    """A row that was not what the log says. `columns`: what differed, if it was there at all."""

    table: str
    id: str
    kind: str
    columns: tuple[str, ...] = ()

    def __str__(self) -> str:
        columns = f": {', '.join(self.columns)}" if self.columns else ""
        return f"{self.table} {self.id} {self.kind}{columns}"


class Unsettled(Exception):
    """The session works: its rows are ahead of its log for moments."""


class _Undo(Exception):
    """Leaves the transaction without a trace."""


def rebuild_session(session_id: str, *, write: bool) -> list[Difference]:
    """Fold the log of a session at rest again; without `write` only to compare.

    Returns: the rows that differed, in the order of the tables. None means that all was well.
    Raises: NotFound; Unsettled.
    """
    found: list[Difference] = []
    try:
        with transaction.atomic():
            if lock_session(session_id).state != State.IDLE:
                raise Unsettled(session_id)
            before = read_rows(session_id)
            rebuild(session_id)
            found = _compare(before, read_rows(session_id))
            if not write:
                raise _Undo
    except _Undo:
        pass
    return found


def _compare(before: dict[str, Rows], after: dict[str, Rows]) -> list[Difference]:
    return [
        difference
        for table, fresh in after.items()
        for difference in _compare_rows(table, before[table], fresh)
    ]


def _compare_rows(table: str, before: Rows, after: Rows) -> list[Difference]:
    extra = [Difference(table, key, "was not in the log") for key in before if key not in after]
    missing = [Difference(table, key, "was missing") for key in after if key not in before]
    changed = [
        Difference(table, key, "differed", tuple(names))
        for key, row in after.items()
        if key in before and (names := [name for name in row if row[name] != before[key][name]])
    ]
    return [*extra, *missing, *changed]
