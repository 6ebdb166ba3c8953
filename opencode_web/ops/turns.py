"""The turns that are under way, of all teams: who holds them, since when, and whether they move."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from django.core.paginator import Paginator
from django.db.models import Count, DateTimeField, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.json import JsonObject
from sessions.models import Event, Session, State, WaitsFor
from sessions.processes import living_processes
from teams.access import teams_of
from teams.models import User

# A turn that a worker holds and that gives no sign of life for so long is stuck, or nearly.
STUCK_S = 60
PAGE_SIZE = 50

_HELD = Q(run__lease_until__gte=Now())
_BUSY = Q(state=State.BUSY)
_SUSPENDED = Q(waits_for__in=(WaitsFor.CHILDREN, WaitsFor.RETRY, WaitsFor.FUNDS, WaitsFor.ROOM))


class TurnFilter(StrEnum):
    """Which turns to show."""

    ALL = ""
    RUNNING = "running"
    QUEUED = "queued"
    STUCK = "stuck"
    WAITING = "waiting"
    PAUSED = "paused"


@dataclass(frozen=True)
class Turn:
    """`state` is one of the filters; `sign_s` since the newest event or text. Durations in seconds.

    `open_url` is empty for who is no member of the team.
    """

    id: str
    parent: str
    team: str
    project: str
    person: str
    state: TurnFilter
    label: str
    for_s: float
    sign_s: float | None
    worker: str
    cost: object
    stop_asked: bool
    open_url: str
    is_stuck: bool


@dataclass(frozen=True)
class Choice:
    """A filter with its address."""

    label: str
    url: str
    count: int
    is_current: bool


@dataclass(frozen=True)
class Counts:
    """How many turns each filter finds; a stuck one is also running.

    `queued_since` and `waiting_since`: of the one that waits longest for a worker or a person.
    """

    running: int
    queued: int
    stuck: int
    waiting: int
    paused: int
    queued_since: datetime | None
    waiting_since: datetime | None

    @property
    def all(self) -> int:
        return self.running + self.queued + self.waiting + self.paused


def growing() -> set[str]:
    """Returns: the sessions whose text has grown lately, as living processes tell."""
    rows = living_processes().exclude(growing=[]).values_list("growing", flat=True)
    return {str(session) for row in rows for session in row}


def under_way(turn_filter: TurnFilter, grows: set[str]) -> QuerySet[Session]:
    """Returns: the sessions of a filter with `last_event`, in no order."""
    newest = Event.objects.filter(session=OuterRef("pk"), seq=OuterRef("seq")).values("time")[:1]
    rows = Session.objects.exclude(state=State.IDLE).annotate(
        last_event=Subquery(newest, output_field=DateTimeField())
    )
    return rows.filter(_condition(turn_filter, grows))


def listed(turn_filter: TurnFilter, grows: set[str]) -> QuerySet[Session]:
    """Returns: those of `under_way` with all that `to_turns` shows, who waits longest first."""
    rows = under_way(turn_filter, grows).select_related("project__team", "owner", "run")
    return rows.order_by("state_since", "pk")


def _condition(turn_filter: TurnFilter, grows: set[str]) -> Q:
    match turn_filter:
        case TurnFilter.RUNNING:
            return _BUSY & _HELD
        case TurnFilter.STUCK:
            silent = Q(last_event__lt=Now() - timedelta(seconds=STUCK_S))
            return _BUSY & _HELD & silent & ~Q(pk__in=grows)
        case TurnFilter.QUEUED:
            return _BUSY & ~_SUSPENDED & _free()
        case TurnFilter.PAUSED:
            return _BUSY & _SUSPENDED & _free()
        case TurnFilter.WAITING:
            return Q(state=State.WAITING)
        case _:
            return Q()


def _free() -> Q:
    return Q(run__lease_until=None) | Q(run__lease_until__lt=Now())


def count_turns(grows: set[str]) -> Counts:
    """One query, whatever their number."""
    filters = (one for one in TurnFilter if one is not TurnFilter.ALL)
    counts = {str(one): Count("pk", filter=_condition(one, grows)) for one in filters}
    found = under_way(TurnFilter.ALL, grows).aggregate(
        **counts,
        queued_since=Min("state_since", filter=_condition(TurnFilter.QUEUED, grows)),
        waiting_since=Min("state_since", filter=_condition(TurnFilter.WAITING, grows)),
    )
    return Counts(**found)


@dataclass(frozen=True)
class TurnsPage:
    """`older` and `newer` are addresses, empty where there is no such page."""

    turn_filter: TurnFilter
    worker: str
    choices: list[Choice]
    turns: list[Turn]
    total: int
    page: int
    pages: int
    previous: str
    next: str
    url: str


def load_turns(user: User, turn_filter: TurnFilter, *, worker: str, number: int) -> TurnsPage:
    """The turns of a filter, the longest waiting first. Six queries."""
    grows = growing()
    counts = count_turns(grows)
    rows = listed(turn_filter, grows)
    if worker:
        rows = rows.filter(run__owner=worker)
    pages = Paginator(rows, PAGE_SIZE)
    page = pages.get_page(number)
    shown = to_turns(user, page.object_list, grows)
    return TurnsPage(
        turn_filter=turn_filter,
        worker=worker,
        choices=_choices(turn_filter, counts),
        turns=shown,
        total=pages.count,
        page=page.number,
        pages=pages.num_pages,
        previous=address(turn_filter, worker, page.number - 1) if page.has_previous() else "",
        next=address(turn_filter, worker, page.number + 1) if page.has_next() else "",
        url=address(turn_filter, worker, page.number),
    )


def address(turn_filter: TurnFilter, worker: str = "", page: int = 1) -> str:
    """Returns: the page of turns with these on it."""
    query: JsonObject = {}
    if turn_filter:
        query["state"] = str(turn_filter)
    if worker:
        query["worker"] = worker
    if page > 1:
        query["page"] = page
    return reverse("ops:turns", query=query or None)


def label_of(turn_filter: TurnFilter) -> str:
    """The label of a filter on the page."""
    return {
        TurnFilter.ALL: _("All"),
        TurnFilter.RUNNING: _("Running"),
        TurnFilter.QUEUED: _("Queued"),
        TurnFilter.STUCK: _("Stuck"),
        TurnFilter.WAITING: _("Waiting for people"),
        TurnFilter.PAUSED: _("Paused"),
    }[turn_filter]


def _choices(chosen: TurnFilter, counts: Counts) -> list[Choice]:
    return [
        Choice(
            label_of(turn_filter),
            address(turn_filter),
            counts.all if turn_filter is TurnFilter.ALL else getattr(counts, str(turn_filter)),
            turn_filter is chosen,
        )
        for turn_filter in TurnFilter
    ]


def to_turns(user: User, sessions: Iterable[Session], grows: set[str]) -> list[Turn]:
    """Returns: what an operator sees of the sessions of `listed`. One query beside theirs."""
    known = set(teams_of(user).values_list("pk", flat=True))
    now = timezone.now()
    return [_to_turn(session, now, grows, known) for session in sessions]


def _to_turn(session: Session, now: datetime, grows: set[str], known: set[str]) -> Turn:
    """`known`: the teams whose sessions the operator may open."""
    run, team = session.run, session.project.team
    held = run.lease_until is not None and run.lease_until >= now
    turn_filter = _filter_of(session, held=held)
    last: datetime | None = session.last_event  # type: ignore[attr-defined]  # annotated
    sign_s = None if last is None else max(0.0, (now - last).total_seconds())
    if session.pk in grows and sign_s is not None:
        sign_s = 0.0
    place = {"team": team.slug, "session": session.pk}
    return Turn(
        id=session.pk,
        parent=session.parent_id or "",
        team=team.name,
        project=session.project.name,
        person=session.owner.display_name if session.owner else "",
        state=turn_filter,
        label=_state_label(session, turn_filter),
        for_s=max(0.0, (now - session.state_since).total_seconds()),
        sign_s=sign_s,
        worker=run.owner if held else "",
        cost=None if session.is_partly_unpriced and not session.cost else session.cost,
        stop_asked=run.stop_requested_at is not None,
        open_url=reverse("sessions:session", kwargs=place) if team.pk in known else "",
        is_stuck=turn_filter is TurnFilter.RUNNING and sign_s is not None and sign_s >= STUCK_S,
    )


def _filter_of(session: Session, *, held: bool) -> TurnFilter:
    if session.state == State.WAITING:
        return TurnFilter.WAITING
    if held:
        return TurnFilter.RUNNING
    return TurnFilter.PAUSED if session.waits_for else TurnFilter.QUEUED


def _state_label(session: Session, turn_filter: TurnFilter) -> str:
    match session.waits_for:
        case WaitsFor.BUDGET | WaitsFor.FUNDS:
            return _("Waiting for more budget")
        case WaitsFor.CHILDREN:
            return _("Waiting for sub-agents")
        case WaitsFor.ROOM:
            return _("Waiting for provider capacity")
        case WaitsFor.RETRY:
            return _("Waiting to retry")
        case _:
            return label_of(turn_filter)
