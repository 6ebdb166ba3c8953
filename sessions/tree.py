"""A session of people and every sub-agent below it. Reads only."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from sessions.models import Session


def tree_of(session: Session) -> QuerySet[Session]:
    """Returns: the session at the top and everything below it, in no order."""
    return Session.objects.filter(Q(pk=session.top_id) | Q(root=session.top_id))


def sessions_below(session: Session) -> list[Session]:
    """Returns: the sub-agents of a session, and theirs at any depth, in the order of their locks
    (`events.store.lock_below`). One query.

    Only what they used and what they do now is loaded with them.
    """
    below = Session.objects.filter(root=session.top_id).order_by("pk")
    rows = list(below.only("parent", "state", "cost", "tokens"))
    found: list[Session] = []
    above: set[str | None] = {session.pk}
    while level := [row for row in rows if row.parent_id in above]:
        found += level
        above = {row.pk for row in level}
    return found
