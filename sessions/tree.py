"""A session of people and every sub-agent below it. Reads only."""

from __future__ import annotations

from collections import defaultdict

from django.db.models import Q, QuerySet

from sessions.models import Session


def tree_of(session: Session) -> QuerySet[Session]:
    """Returns: the session at the top and everything below it, in no order."""
    return Session.objects.filter(Q(pk=session.top_id) | Q(root=session.top_id))


def sessions_below(session: Session) -> list[Session]:
    """Returns: the sub-agents of a session, and theirs at any depth. One query.

    Only what they used and what they do now is loaded with them.
    """
    below = Session.objects.filter(root=session.top_id)
    children: dict[str | None, list[Session]] = defaultdict(list)
    for row in below.only("parent", "state", "cost", "tokens"):
        children[row.parent_id].append(row)
    found: list[Session] = []
    level = children[session.pk]
    while level:
        found += level
        level = [child for row in level for child in children[row.pk]]
    return found
