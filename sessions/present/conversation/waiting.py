"""Everything of a team that waits for somebody, for its inbox."""

from __future__ import annotations

from dataclasses import dataclass

from sessions.models import PermissionRequest, QuestionRequest, Session
from sessions.present.conversation.docks import Card, build_cards
from sessions.present.conversation.history import Waiting
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

    @property
    def count(self) -> int:
        """Requests that are shown."""
        return sum(len(session.cards) for session in self.sessions)


def count_waiting(team_id: str) -> int:
    """Returns: how many sessions wait for somebody. Sub-agents count as the one at the top."""
    found: set[str] = set()
    for model in (PermissionRequest, QuestionRequest):
        rows = model.objects.filter(
            status=model.Status.PENDING, session__project__team=team_id, session__archived_at=None
        )
        found.update(root or own for own, root in rows.values_list("session", "session__root"))
    return len(found)


def load_inbox(team: Team) -> Inbox:
    """What has waited longest comes first."""
    found: list[Waiting] = []
    for model in (PermissionRequest, QuestionRequest):
        rows = model.objects.filter(
            status=model.Status.PENDING, session__project__team=team, session__archived_at=None
        )
        found += rows.select_related("session")
    waiting: dict[str, list[Waiting]] = {}
    for row in sorted(found, key=lambda row: (row.created_at, row.pk)):
        waiting.setdefault(row.session.top_id, []).append(row)
    shown = list(waiting)[:MAX_SESSIONS]
    tops = Session.objects.select_related("project__team").in_bulk(shown)
    groups = [(tops[top_id], waiting[top_id]) for top_id in shown if top_id in tops]
    cards = build_cards([(Place.of(top), own) for top, own in groups])
    sessions = [
        WaitingSession(
            top.pk, shown_title(top), top.project.name, Place.of(top).url("session"), own
        )
        for (top, _), own in zip(groups, cards, strict=True)
    ]
    return Inbox(sessions, len(waiting) - len(sessions))
