"""The newest events of all sessions: what happened where, how large it is, never what it says."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max, TextField
from django.db.models.functions import Cast, Length
from django.urls import reverse

from sessions.models import Event
from teams.access import teams_of
from teams.models import Team, User

SHOWN = 100
# As far back as is looked for what matches; a quiet team must not cost a walk through all.
_WINDOW = 50_000


@dataclass(frozen=True)
class EventLine:
    """`size` in characters of JSON; `open_url` is empty for who is no member of the team."""

    id: int
    time: datetime
    type: str
    team: str
    session: str
    seq: int
    size: int
    open_url: str


@dataclass(frozen=True)
class Tail:
    """`team` is a slug, `type` how the types begin, `session` an id; empty for all."""

    team: str
    type: str
    session: str
    teams: list[tuple[str, str]]
    lines: list[EventLine]


def load_tail(user: User, *, team: str, type: str, session: str = "") -> Tail:
    """Five queries, whatever there is."""
    newest = Event.objects.aggregate(Max("pk"))["pk__max"] or 0
    # Those of one session are found by their index, however old they are.
    rows = Event.objects.filter(pk__gt=newest - _WINDOW) if not session else Event.objects.all()
    if session:
        rows = rows.filter(session=session)
    if team:
        rows = rows.filter(session__project__team__slug=team)
    if type:
        rows = rows.filter(type__startswith=type)
    rows = rows.annotate(size=Length(Cast("data", TextField()))).defer("data", "session__title")
    found = rows.select_related("session__project__team").order_by("-pk")[:SHOWN]
    known = set(teams_of(user).values_list("pk", flat=True))
    return Tail(
        team=team,
        type=type,
        session=session,
        teams=list(Team.objects.order_by("name", "pk").values_list("slug", "name")),
        lines=[_to_line(event, known) for event in found],
    )


def _to_line(event: Event, known: set[str]) -> EventLine:
    team = event.session.project.team
    place = {"team": team.slug, "session": event.session_id}
    size: int = event.size  # type: ignore[attr-defined]  # annotated
    return EventLine(
        id=event.pk,
        time=event.time,
        type=event.type,
        team=team.name,
        session=event.session_id,
        seq=event.seq,
        size=size,
        open_url=reverse("sessions:session", kwargs=place) if team.pk in known else "",
    )
