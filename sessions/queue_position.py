"""The line for workers: sessions that have something to do and that no live worker holds.

Workers of a host take them up in the order in which they were rung for. So the place of one is how
many came to be due before it, whosever they are, and itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

from django.db.models import Case, DateTimeField, Exists, F, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from sessions.inbox import not_begun
from sessions.models import PermissionRequest, QuestionRequest, Session, State, WaitsFor

# A free worker takes a session up long before; who is that new is not told a place that is gone at
# once, and costs nobody a query.
SETTLED = timedelta(seconds=2)
# Nobody is told that so many are before them.
_MOST = 1_000


def due_sessions() -> QuerySet[Session]:
    """Returns: who has something to do and no live owner, with `due_since`, the earliest first.

    A suspended one has something to do when what it waits for has come, or its time has run out.
    """
    free = Q(run__lease_until=None) | Q(run__lease_until__lt=Now())
    unanswered = PermissionRequest.objects.filter(session=OuterRef("pk"), status="pending")
    unsaid = QuestionRequest.objects.filter(session=OuterRef("pk"), status="pending")
    children = Session.objects.filter(parent=OuterRef("pk"))
    works = Q(state=State.BUSY, waits_for=WaitsFor.NOTHING)
    answered = Q(state=State.WAITING) & ~Exists(unanswered) & ~Exists(unsaid)
    settled = Q(waits_for=WaitsFor.CHILDREN) & ~Exists(children.exclude(state=State.IDLE))
    due = Q(wake_at__lte=Now())
    raised = Q(waits_for=WaitsFor.FUNDS, state_since__lt=F("project__team__budgets_changed_at"))
    stopped = Q(run__stop_requested_at__isnull=False)
    newest_end = children.order_by("-state_since").values("state_since")[:1]
    since = Case(
        When(due, then="wake_at"),
        # Nothing comes after the answer.
        When(state=State.WAITING, then="updated_at"),
        When(waits_for=WaitsFor.CHILDREN, then=Subquery(newest_end)),
        When(waits_for=WaitsFor.FUNDS, then="project__team__budgets_changed_at"),
        output_field=DateTimeField(),
    )
    rows = Session.objects.filter(free, works | answered | settled | due | raised | stopped)
    return rows.annotate(due_since=Coalesce(since, "state_since")).order_by("due_since", "pk")


def read_line(hosts: Collection[str] | None = None) -> dict[str, int]:
    """Returns: the places in the lines of some hosts, or of all; 0 for who has only just come."""
    rows = due_sessions()
    if hosts is not None:
        rows = rows.filter(project__host__in=hosts)
    found: Iterable[tuple[str, str, datetime]]
    found = rows.values_list("pk", "project__host", "due_since")[:_MOST]  # type: ignore[misc]  # annotated
    before = timezone.now() - SETTLED
    length: Counter[str] = Counter()
    places = {}
    for session_id, host, since in found:
        length[host] += 1
        places[session_id] = length[host] if since < before else 0
    return places


def places_of(sessions: Collection[Session]) -> dict[str, int]:
    """Returns: of these, those whose prompts no worker has taken, with their places in line.

    0 while that is not known. `project` should be loaded. One query beside those of `not_begun`,
    and that only when somebody has waited for a while.
    """
    waiting = not_begun(sessions)
    before = timezone.now() - SETTLED
    hosts = {one.project.host for one in sessions if one.pk in waiting and one.state_since < before}
    line = read_line(hosts) if hosts else {}
    return {session_id: line.get(session_id, 0) for session_id in waiting}
