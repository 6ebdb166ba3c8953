"""Everything of a team that waits for somebody, for its inbox."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from django.db.models import Q, QuerySet

from sessions.config.cost_limit import role_to_answer
from sessions.models import PermissionRequest, QuestionRequest, Session
from sessions.present.conversation.asks import PermissionCard
from sessions.present.conversation.docks import Card, build_cards
from sessions.present.conversation.history import Waiting
from sessions.present.place import Place
from sessions.present.sessions import shown_title
from sessions.visibility import role_for, sessions_in, with_roles
from teams.access import TeamAccess, has_role
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


def count_waiting(sessions: QuerySet[Session], access: TeamAccess | None = None) -> dict[Role, int]:
    """Returns: how many of these sessions wait for an answer that a role can give, without roles
    that can give none. Sub-agents count as the one at the top.

    With `access` each count is that of the person, whatever role their page goes by.
    """
    if access is not None:
        count = _count_for(sessions, access)
        return dict.fromkeys(Role, count) if count else {}
    needs: dict[str, set[Role]] = {}
    for top_id, role in _asked(sessions):
        needs.setdefault(top_id, set()).add(role)
    able = (role for asked in needs.values() for role in Role if asked & role.includes)
    return dict(Counter(able))


def _count_for(sessions: QuerySet[Session], access: TeamAccess) -> int:
    asked = _asked(sessions)
    tops = with_roles(sessions_in(access), access).filter(pk__in={top_id for top_id, _ in asked})
    roles = {row.pk: role_for(access, row) for row in tops.select_related("project")}
    return len({one for one, need in asked if one in roles and has_role(roles[one], need)})


def _asked(sessions: QuerySet[Session]) -> list[tuple[str, Role]]:
    """Returns: of each pending request the session at the top and the least role to answer it."""
    pending = Q(status="pending", session__in=sessions, session__archived_at=None)
    permissions = PermissionRequest.objects.filter(pending)
    found = [
        (root or own, role_to_answer(permission))
        for own, root, permission in permissions.values_list(
            "session", "session__root", "permission"
        )
    ]
    questions = QuestionRequest.objects.filter(pending)
    return found + [
        (root or own, Role.MEMBER)
        for own, root in questions.values_list("session", "session__root")
    ]


def load_inbox(access: TeamAccess) -> Inbox:
    """What has waited longest comes first."""
    found: list[Waiting] = []
    for model in (PermissionRequest, QuestionRequest):
        rows = model.objects.pending().filter(
            session__in=sessions_in(access), session__archived_at=None
        )
        found += rows.select_related("session")
    waiting: dict[str, list[Waiting]] = {}
    for row in sorted(found, key=lambda row: (row.created_at, row.pk)):
        waiting.setdefault(row.session.top_id, []).append(row)
    shown = list(waiting)[:MAX_SESSIONS]
    seen = with_roles(sessions_in(access), access)
    tops = seen.select_related("project__team").in_bulk(shown)
    groups = [(tops[top_id], waiting[top_id]) for top_id in shown if top_id in tops]
    cards = build_cards([(Place.of(top), own) for top, own in groups])
    mine, others, count = list[WaitingSession](), list[WaitingSession](), 0
    for (top, _), own in zip(groups, cards, strict=True):
        here = replace(access, role_here=role_for(access, top))
        answerable = sum(_is_for(card, here) for card in own)
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
