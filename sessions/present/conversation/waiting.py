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
from sessions.rules.second_person import who_may_allow
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


@dataclass(frozen=True)
class _Need:
    """The least role that can answer something in a session, or else the people by their ids."""

    top_id: str
    role: Role | None
    people: frozenset[int] = frozenset()


def count_waiting(sessions: QuerySet[Session], access: TeamAccess | None = None) -> dict[str, int]:
    """Returns: how many of these sessions wait for an answer that a role can give, without roles
    that can give none, and by ids of people how many more wait only for a second person. Sub-agents
    count as the one at the top.

    With `access` each count is that of the person, whatever role their page goes by.
    """
    if access is not None:
        count = _count_for(sessions, access)
        return {role.value: count for role in Role} if count else {}
    needs: dict[str, list[_Need]] = {}
    for one in _asked(sessions):
        needs.setdefault(one.top_id, []).append(one)
    able = Counter[str]()
    for asked in needs.values():
        roles = {one.role for one in asked} - {None}
        able.update(role.value for role in Role if roles & role.includes)
        if not roles:
            able.update(str(pk) for pk in frozenset[int]().union(*(one.people for one in asked)))
    return dict(able)


def _count_for(sessions: QuerySet[Session], access: TeamAccess) -> int:
    asked = _asked(sessions)
    tops = with_roles(sessions_in(access), access).filter(pk__in={one.top_id for one in asked})
    roles = {row.pk: role_for(access, row) for row in tops.select_related("project")}
    able = (
        one.top_id
        for one in asked
        if one.top_id in roles
        and (has_role(roles[one.top_id], one.role) if one.role else access.user.pk in one.people)
    )
    return len({*able})


def _asked(sessions: QuerySet[Session]) -> list[_Need]:
    """Returns: who can answer each pending request."""
    pending = Q(status="pending", session__in=sessions, session__archived_at=None)
    permissions = PermissionRequest.objects.filter(pending).select_related("session__project__team")
    people = who_may_allow(permissions)
    found = [
        _Need(row.session.top_id, None, people[row.session.top_id])
        if row.second_person
        else _Need(row.session.top_id, role_to_answer(row.permission))
        for row in permissions
    ]
    questions = QuestionRequest.objects.filter(pending)
    return found + [
        _Need(root or own, Role.MEMBER)
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
