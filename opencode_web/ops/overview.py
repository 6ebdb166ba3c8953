"""The first page of the console: six numbers, and what an operator should look at."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from decimal import Decimal

from django.db.models import Count, Q, Sum
from django.utils import timezone

from opencode_web.lib.days import age_s, start_of
from opencode_web.ops.queues import LATE_S
from opencode_web.ops.turns import (
    Counts,
    Turn,
    TurnFilter,
    count_turns,
    growing,
    listed,
    to_turns,
)
from sessions.models import ServerProcess
from sessions.processes import living_processes
from teams.models import Basis, UsageEntry, User

# Stuck turns that the first page names.
_SHOWN = 10


@dataclass(frozen=True)
class Overview:
    """`queued_s` is how long the oldest queued session has been due. Units: seconds, US dollars."""

    counts: Counts
    sockets: int
    spend: Decimal
    answers: int
    # Of the answers, those of models whose price is not known.
    unpriced: int
    workers: int
    draining: int
    queued_s: float
    waiting_s: float
    stuck: list[Turn]

    @property
    def is_late(self) -> bool:
        return self.queued_s > LATE_S


def load_overview(user: User) -> Overview:
    """Six queries, whatever runs."""
    now = timezone.now()
    grows = growing()
    counts = count_turns(grows)
    works = ~Q(kind=ServerProcess.Kind.WEB)
    processes = living_processes().aggregate(
        sockets=Sum("sockets"),
        workers=Count("pk", filter=works & Q(drain_since=None)),
        draining=Count("pk", filter=works & Q(drain_since__isnull=False)),
    )
    today = start_of(now.astimezone(UTC).date())
    used = UsageEntry.objects.filter(time__gte=today).aggregate(
        Sum("cost"), Count("pk"), unpriced=Count("pk", filter=Q(basis=Basis.UNPRICED))
    )
    return Overview(
        counts=counts,
        sockets=processes["sockets"] or 0,
        spend=used["cost__sum"] or Decimal(0),
        answers=used["pk__count"],
        unpriced=used["unpriced"],
        workers=processes["workers"],
        draining=processes["draining"],
        queued_s=age_s(counts.queued_since, now),
        waiting_s=age_s(counts.waiting_since, now),
        stuck=to_turns(user, listed(TurnFilter.STUCK, grows)[:_SHOWN], grows),
    )
