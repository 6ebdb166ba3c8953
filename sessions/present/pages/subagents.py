"""Where a sub-agent stands: the session it works for, and the others that work for it."""

from __future__ import annotations

from dataclasses import dataclass

from sessions.models import Session
from sessions.present.place import Place
from sessions.present.sessions import shown_title


@dataclass(frozen=True)
class SubPlace:
    """`position` counts from 1; the addresses are empty at either end."""

    parent: str
    parent_url: str
    position: int
    total: int
    previous_url: str
    next_url: str


def load_sub_place(session: Session) -> SubPlace | None:
    """`session.project.team` should be loaded. Returns: None for a session of people."""
    parent = session.parent
    if parent is None:
        return None
    place = Place(session.project.team.slug, parent.pk, session.worktree)
    ids = list(parent.children.order_by("created_at", "pk").values_list("pk", flat=True))
    here = ids.index(session.pk)
    return SubPlace(
        parent=shown_title(parent),
        parent_url=place.url("session") if parent.parent_id is None else place.url_of(parent.pk),
        position=here + 1,
        total=len(ids),
        previous_url=place.sub_url(ids[here - 1]) if here else "",
        next_url=place.sub_url(ids[here + 1]) if here + 1 < len(ids) else "",
    )
