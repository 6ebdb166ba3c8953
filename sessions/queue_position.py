"""The line for workers: sessions that have something to do and that no live worker holds.

Workers of a host take them up in the order of `fair_line`, whatever they were rung for. The place
of one is how many go before it on its host, and itself; where its team is at its limit, how many of
the team do.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db.models import (
    BigIntegerField,
    Case,
    Count,
    DateTimeField,
    Exists,
    F,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    When,
)
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from sessions.fair_line import FairLine, Served, Waiting, fair_line
from sessions.inbox import not_begun
from sessions.models import (
    PermissionRequest,
    QuestionRequest,
    Run,
    ServerProcess,
    Session,
    SessionInput,
    State,
    WaitsFor,
)
from sessions.processes import living_processes
from teams.limits import most_turns

# A free worker takes a session up long before; who is that new is not told a place that is gone at
# once, and costs nobody a query.
SETTLED = timedelta(seconds=2)
# Nobody is told that so many are before them.
_MOST = 1_000
# How long it counts when a team or a person was served last.
_REMEMBERED = timedelta(days=1)


def due_sessions(rung: str = "") -> QuerySet[Session]:
    """Returns: who has something to do and no live owner, with `due_since`, the earliest first.

    A suspended one has something to do when what it waits for has come, or its time has run out,
    and when it was rung for: this one is `rung`, or a ring found no place before.
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
    called = Q(pk=rung) | Q(run__rung_at__isnull=False)
    newest_end = children.order_by("-state_since").values("state_since")[:1]
    since = Case(
        When(due, then="wake_at"),
        # Nothing comes after the answer.
        When(state=State.WAITING, then="updated_at"),
        When(waits_for=WaitsFor.CHILDREN, then=Subquery(newest_end)),
        When(waits_for=WaitsFor.FUNDS, then="project__team__budgets_changed_at"),
        output_field=DateTimeField(),
    )
    rows = Session.objects.filter(
        free, works | answered | settled | due | raised | stopped | called
    )
    return rows.annotate(due_since=Coalesce(since, "state_since")).order_by("due_since", "pk")


def do_others_wait(session: Session) -> bool:
    """Whether any other session of its host could use the worker that it has."""
    others = due_sessions().filter(project__host=session.project.host)
    return others.exclude(pk=session.pk).exists()


@dataclass(frozen=True)
class PlaceInLine:
    """`running`: the turns of a team at its limit, of whose line `number` is; 0 for any other."""

    number: int
    running: int = 0


# Of who has only just come.
NO_PLACE = PlaceInLine(0)


@dataclass(frozen=True)
class Line:
    """Who waits on all hosts, in order, and how many turns of each team run."""

    order: FairLine
    hosts: Mapping[str, str]
    running: Mapping[str, int]

    def ready_on(self, host: str) -> list[str]:
        """Returns: the sessions that its workers may take up, the next one first."""
        return [one.id for one in self.order.ready if self.hosts[one.id] == host]


def next_person() -> Coalesce:
    """Of a session: who wrote the prompt that comes next, else its owner."""
    admitted = SessionInput.objects.filter(session=OuterRef("pk"), status="admitted")
    author = admitted.order_by("position", "admitted_seq").values("author")[:1]
    return Coalesce(Subquery(author), "owner", output_field=BigIntegerField())


def load_line(rung: str = "") -> Line:
    """`rung`: as for `due_sessions`. Two queries, the second one only where somebody waits."""
    found = list(
        due_sessions(rung)
        .annotate(person=next_person())
        .values_list(
            "pk",
            "project__team",
            "person",
            "due_since",
            "run__stop_requested_at",
            "project__host",
            "project__team__max_turns",
        )
    )
    waiting = [Waiting(*row[:4], settles=row[4] is not None) for row in found]
    served = _served({one.team for one in waiting}) if waiting else []
    limits = {row[1]: most_turns(row[6]) for row in found}
    running = Counter[str]()
    for one in served:
        running[one.team] += one.running
    return Line(fair_line(waiting, served, limits), {row[0]: row[5] for row in found}, running)


def _served(teams: Collection[str]) -> list[Served]:
    held = Q(lease_until__gte=Now())
    rows = Run.objects.filter(session__project__team__in=teams)
    # What was served long ago is before all else anyway.
    rows = rows.filter(held | Q(taken_at__gte=Now() - _REMEMBERED))
    found = rows.values_list("session__project__team", "person").annotate(
        running=Count("pk", filter=held), at=Max("taken_at")
    )
    return [Served(*row) for row in found]


def free_places() -> defaultdict[str, int]:
    """Returns: how many sessions the workers of a host could still take up, at least one each.

    At least: whether they are as busy as their leases say is known to them alone.
    """
    alive = living_processes().filter(drain_since=None).exclude(kind=ServerProcess.Kind.WEB)
    held = Run.objects.filter(lease_until__gte=Now())
    workers = Counter(alive.values_list("host", flat=True))
    busy = Counter(held.values_list("session__project__host", flat=True))
    free = {host: number * settings.WORKER_CONCURRENCY for host, number in workers.items()}
    places = {host: max(1, number - busy[host]) for host, number in free.items()}
    return defaultdict(lambda: 1, places)


def read_line(hosts: Collection[str] | None = None) -> dict[str, PlaceInLine]:
    """Returns: the places in the lines of some hosts, or of all, in their order."""
    line, before = load_line(), timezone.now() - SETTLED
    length: Counter[str] = Counter()
    places = {}

    def add(one: Waiting, counted_as: str, running: int = 0) -> None:
        length[counted_as] += 1
        if hosts is None or line.hosts[one.id] in hosts:
            place = PlaceInLine(length[counted_as], running)
            is_told = one.since < before and place.number <= _MOST
            places[one.id] = place if is_told else NO_PLACE

    for one in line.order.ready:
        add(one, f"host {line.hosts[one.id]}")
    for one in line.order.held:
        add(one, f"team {one.team}", line.running[one.team])
    return places


def places_of(sessions: Collection[Session]) -> dict[str, PlaceInLine]:
    """Returns: of these, those whose prompts no worker has taken, with their places in line.

    `project` should be loaded. Two queries beside those of `not_begun`, and these only when
    somebody has waited for a while.
    """
    waiting = not_begun(sessions)
    before = timezone.now() - SETTLED
    hosts = {one.project.host for one in sessions if one.pk in waiting and one.state_since < before}
    line = read_line(hosts) if hosts else {}
    return {session_id: line.get(session_id, NO_PLACE) for session_id in waiting}


def all_wait_for_funds(sessions: Iterable[Session]) -> set[str]:
    """Returns: ids of those that wait for sub-agents, all of which wait for a budget."""
    ids = [one.pk for one in sessions if one.waits_for == WaitsFor.CHILDREN]
    if not ids:
        return set()
    below = Session.objects.filter(root__in=ids, state=State.BUSY)
    waits = set(below.exclude(waits_for=WaitsFor.CHILDREN).values_list("root", "waits_for"))
    others = {root for root, why in waits if why != WaitsFor.FUNDS}
    return {str(root) for root, _why in waits} - others
