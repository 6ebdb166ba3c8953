"""Samples of the whole server for the operators' charts: one a minute, added up to hours.

A minute that nobody sampled has no row, and a chart shows a gap. A message that comes twice writes
the same row again. Five queries a minute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, F, Min, Q, Sum
from django.db.models.functions import Now
from django.utils import timezone

from opencode_web.lib.days import age_s
from sessions.models import (
    Outcome,
    Run,
    ServerProcess,
    ServerSample,
    Session,
    State,
    WaitsFor,
)
from sessions.processes import living_processes
from teams.models import UsageEntry

MINUTES_KEPT, HOURS_KEPT = timedelta(days=1), timedelta(days=90)
_MINUTE = timedelta(seconds=ServerSample.MINUTE_S)
_HOUR = timedelta(seconds=ServerSample.HOUR_S)
_FREE = Q(run__lease_until=None) | Q(run__lease_until__lt=Now())
_SUSPENDED = (WaitsFor.CHILDREN, WaitsFor.RETRY, WaitsFor.FUNDS, WaitsFor.ROOM)
_TOKENS = F("input") + F("output") + F("reasoning") + F("cache_read") + F("cache_write")


def take_sample(now: datetime | None = None) -> None:
    """Keep the minute before this one, add up hours that are over, and forget the oldest."""
    now = now or timezone.now()
    start = now.replace(second=0, microsecond=0) - _MINUTE
    ServerSample.objects.update_or_create(
        step_s=ServerSample.MINUTE_S, start=start, defaults=_measure(start, now)
    )
    _add_up(now)
    rows = ServerSample.objects
    rows.filter(step_s=ServerSample.MINUTE_S, start__lt=now - MINUTES_KEPT - _HOUR).delete()
    rows.filter(step_s=ServerSample.HOUR_S, start__lt=now - HOURS_KEPT).delete()


def _measure(start: datetime, now: datetime) -> dict[str, object]:
    due = Session.objects.filter(_FREE, state=State.BUSY).exclude(waits_for__in=_SUSPENDED)
    queue = due.aggregate(count=Count("pk"), oldest=Min("state_since"))
    used = UsageEntry.objects.filter(time__gte=start, time__lt=start + _MINUTE)
    by_team = list(used.values("team").annotate(Count("pk"), cost=Sum("cost"), tokens=Sum(_TOKENS)))
    ended = Session.objects.filter(
        outcome=Outcome.FAILED, state_since__gte=start, state_since__lt=start + _MINUTE
    )
    return {
        "running": Run.objects.filter(lease_until__gte=Now()).count(),
        "queued": queue["count"],
        "workers": living_processes().exclude(kind=ServerProcess.Kind.WEB).count(),
        "queue_age_s": age_s(queue["oldest"], now),
        "responses": sum(row["pk__count"] for row in by_team),
        "failures": ended.count(),
        "cost": sum((row["cost"] for row in by_team), start=0),
        "tokens": {row["team"]: row["tokens"] for row in by_team if row["tokens"]},
    }


@transaction.atomic
def _add_up(now: datetime) -> None:
    this_hour = now.replace(minute=0, second=0, microsecond=0)
    minutes = ServerSample.objects.filter(
        step_s=ServerSample.MINUTE_S, start__lt=this_hour, start__gte=this_hour - MINUTES_KEPT
    )
    hours = ServerSample.objects.filter(step_s=ServerSample.HOUR_S, start__lt=this_hour)
    done = set(hours.filter(start__gte=this_hour - MINUTES_KEPT).values_list("start", flat=True))
    open_hours = {start.replace(minute=0) for start in minutes.values_list("start", flat=True)}
    for hour in sorted(open_hours - done):
        rows = list(minutes.filter(start__gte=hour, start__lt=hour + _HOUR))
        ServerSample.objects.get_or_create(
            step_s=ServerSample.HOUR_S, start=hour, defaults=add_up(rows)
        )


def add_up(rows: Sequence[ServerSample]) -> dict[str, object]:
    """Returns: the fields of one sample for all of these: means, the longest wait, and sums."""
    return {
        **{name: _mean(getattr(row, name) for row in rows) for name in ("running", "queued")},
        "workers": _mean(row.workers for row in rows),
        "queue_age_s": max(row.queue_age_s for row in rows),
        "responses": sum(row.responses for row in rows),
        "failures": sum(row.failures for row in rows),
        "cost": sum(row.cost for row in rows),
        "tokens": dict(sum_tokens(rows)),
    }


def sum_tokens(rows: Iterable[ServerSample]) -> Counter[str]:
    """Returns: tokens by the id of the team."""
    total: Counter[str] = Counter()
    for row in rows:
        total.update(row.tokens)
    return total


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
