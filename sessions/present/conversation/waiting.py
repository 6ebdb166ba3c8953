"""Everything of a team that waits for somebody, for its inbox."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from django.db.models import Q

from sessions.config.cost_limit import role_to_answer
from sessions.models import PermissionRequest, QuestionRequest, Session
from sessions.present.conversation.asks import PermissionCard
from sessions.present.conversation.docks import Card, build_cards
from sessions.present.conversation.history import Waiting
from sessions.present.place import Place
from sessions.present.sessions import shown_title
from teams.access import TeamAccess
from teams.models import Role

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
    """`others`: those of which the person can answer nothing; `more`: how many other sessions wait;
    `count`: requests that are shown and that the person can answer."""

    sessions: list[WaitingSession]
    others: list[WaitingSession]
    count: int
    more: int = 0


def count_waiting(team_id: str) -> dict[Role, int]:
    """Returns: how many sessions wait for an answer that a role can give, without roles that can
    give none. Sub-agents count as the one at the top."""
    needs: dict[str, set[Role]] = {}
    pending = Q(status="pending", session__project__team=team_id, session__archived_at=None)
    permissions = PermissionRequest.objects.filter(pending)
    for own, root, permission in permissions.values_list("session", "session__root", "permission"):
        needs.setdefault(root or own, set()).add(role_to_answer(permission))
    questions = QuestionRequest.objects.filter(pending)
    for own, root in questions.values_list("session", "session__root"):
        needs.setdefault(root or own, set()).add(Role.MEMBER)
    able = (role for asked in needs.values() for role in Role if asked & role.includes)
    return dict(Counter(able))


def load_inbox(access: TeamAccess) -> Inbox:
    """What has waited longest comes first."""
    found: list[Waiting] = []
    for model in (PermissionRequest, QuestionRequest):
        rows = model.objects.filter(
            status=model.Status.PENDING,
            session__project__team=access.team,
            session__archived_at=None,
        )
        found += rows.select_related("session")
    waiting: dict[str, list[Waiting]] = {}
    for row in sorted(found, key=lambda row: (row.created_at, row.pk)):
        waiting.setdefault(row.session.top_id, []).append(row)
    shown = list(waiting)[:MAX_SESSIONS]
    tops = Session.objects.select_related("project__team").in_bulk(shown)
    groups = [(tops[top_id], waiting[top_id]) for top_id in shown if top_id in tops]
    cards = build_cards([(Place.of(top), own) for top, own in groups])
    mine, others, count = list[WaitingSession](), list[WaitingSession](), 0
    for (top, _), own in zip(groups, cards, strict=True):
        answerable = sum(_is_for(card, access) for card in own)
        count += answerable
        (mine if answerable else others).append(
            WaitingSession(
                top.pk, shown_title(top), top.project.name, Place.of(top).url("session"), own
            )
        )
    return Inbox(mine, others, count, len(waiting) - len(groups))


def _is_for(card: Card, access: TeamAccess) -> bool:
    second = card.second if isinstance(card, PermissionCard) else None
    return access.can(card.needs) and (second is None or access.user in second.may_allow)
