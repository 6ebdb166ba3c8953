"""Everything of a team that waits for somebody, for its inbox."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from sessions.models import PermissionRequest, QuestionRequest, Session
from sessions.present.docks import Card, build_cards
from sessions.present.history import Waiting
from sessions.present.place import Place
from sessions.present.sessions import shown_title
from teams.models import Team

# Sessions whose requests are shown; the rest is in the list of sessions.
MAX_SESSIONS = 50


@dataclass(frozen=True)
class WaitingSession:
    id: str
    title: str
    project: str
    url: str
    cards: list[Card]


@dataclass(frozen=True)
class Inbox:
    """`more`: how many other sessions wait."""

    sessions: list[WaitingSession]
    more: int = 0


def load_inbox(team: Team) -> Inbox:
    """What has waited longest comes first."""
    rows: list[Waiting] = []
    for model in (PermissionRequest, QuestionRequest):
        found = model.objects.filter(
            status=model.Status.PENDING, session__project__team=team, session__archived_at=None
        )
        rows += found.select_related("session").order_by("created_at", "pk")
    oldest: dict[str, int] = {}
    rows.sort(key=lambda row: (row.created_at, row.pk))
    for row in rows:
        oldest.setdefault(row.session.top_id, len(oldest))
    shown = list(oldest)[:MAX_SESSIONS]
    tops = Session.objects.select_related("project__team").in_bulk(shown)
    rows = [row for row in rows if row.session.top_id in tops]
    rows.sort(key=lambda row: oldest[row.session.top_id])
    groups = [
        (tops[top_id], list(own)) for top_id, own in groupby(rows, lambda row: row.session.top_id)
    ]
    cards = build_cards([(Place.of(top), own) for top, own in groups])
    sessions = [
        WaitingSession(
            top.pk, shown_title(top), top.project.name, Place.of(top).url("session"), own
        )
        for (top, _), own in zip(groups, cards, strict=True)
    ]
    return Inbox(sessions, len(oldest) - len(sessions))
