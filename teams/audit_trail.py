"""Find entries of a team's audit trail, and write them as CSV."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from opencode_web.lib.csv_text import to_csv
from opencode_web.lib.days import end_of, start_of
from opencode_web.lib.db import in_db
from teams.audit_texts import GROUPS
from teams.models import AuditEntry, Team

NONE = AuditEntry.objects.none()
COLUMNS = ("time", "who", "what", "kind", "name", "id", "details", "from")
_CHUNK = 500
PAGE_SIZE = 50
# Longer numbers are none of a row.
_MAX_DIGITS = 18


@dataclass(frozen=True)
class Page:
    """`older` is the cursor of the page after this one; None on the last."""

    rows: list[AuditEntry]
    older: int | None
    is_first: bool


def page_of(entries: QuerySet[AuditEntry], before: str) -> Page:
    """Returns: some entries, the newest first. `before` is a cursor, empty or no number for none.

    A cursor, not a page number: new entries must not move old ones to the next page.
    """
    if before.isdecimal() and len(before) <= _MAX_DIGITS:
        entries = entries.filter(pk__lt=int(before))
    rows = list(entries[: PAGE_SIZE + 1])
    older = rows[PAGE_SIZE - 1].pk if len(rows) > PAGE_SIZE else None
    return Page(rows[:PAGE_SIZE], older, not before)


def find_entries(team: Team, asked: Mapping[str, Any]) -> QuerySet[AuditEntry]:
    """Returns: the entries that match what a valid `AuditForm` asks for, the newest first."""
    entries = narrowed(AuditEntry.objects.filter(team=team), asked)
    if asked["text"]:
        words = {"words": Cast("data", TextField()), "people": Cast("names", TextField())}
        entries = entries.alias(**words).filter(_has(asked["text"]))
    return entries


def narrowed(entries: QuerySet[AuditEntry], asked: Mapping[str, Any]) -> QuerySet[AuditEntry]:
    """Returns: the entries of the person, the action and the days, the newest first."""
    entries = entries.order_by("-id")
    if asked["who"]:
        entries = entries.filter(actor_email__icontains=asked["who"])
    if asked["what"] in GROUPS:
        beginnings = [Q(action__startswith=one) for one in GROUPS[asked["what"]][1]]
        entries = entries.filter(reduce(or_, beginnings))
    elif asked["what"]:
        entries = entries.filter(action=asked["what"])
    if asked["address"]:
        entries = entries.filter(ip__startswith=asked["address"])
    if asked["since"]:
        entries = entries.filter(time__gte=start_of(asked["since"]))
    if asked["until"]:
        entries = entries.filter(time__lt=end_of(asked["until"]))
    return entries


def _has(text: str) -> Q:
    # SQLite keeps what is no ASCII as JSON escapes it, PostgreSQL as it is.
    escaped = json.dumps(text)[1:-1]
    found = Q(words__icontains=text) | Q(words__icontains=escaped)
    for column in ("people", "actor_email", "action", "target_type", "target_id", "ip", "client"):
        found |= Q(**{f"{column}__icontains": text})
    return found


async def csv_of(
    entries: QuerySet[AuditEntry],
    to_lines: Callable[[list[AuditEntry]], list[list[str]]],
    *,
    columns: Sequence[str] = COLUMNS,
) -> AsyncIterator[str]:
    """Write entries that are ordered by id from the newest on, some hundreds at a time.

    Returns: pieces of CSV with a line of headings.
    """
    yield to_csv([list(columns)])
    last: int | None = None
    while True:
        rows = entries if last is None else entries.filter(pk__lt=last)
        chunk = await in_db(_read, rows[:_CHUNK])
        if chunk:
            yield to_csv(await in_db(to_lines, chunk))
        if len(chunk) < _CHUNK:
            return
        last = chunk[-1].pk


def _read(rows: QuerySet[AuditEntry]) -> list[AuditEntry]:
    return list(rows)
