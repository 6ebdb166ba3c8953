"""What forks were made of, where lists and their pages say it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from sessions.models import Session
from sessions.present.place import Place
from sessions.present.sessions import shown_title


@dataclass(frozen=True)
class Origin:
    """The session that a fork, and the forks of that, began as."""

    title: str
    url: str

    @property
    def text(self) -> str:
        return _("Fork of %(title)s") % {"title": self.title}


def origins_of(sessions: Iterable[Session]) -> dict[str, Origin]:
    """Returns: by fork, what it was made of; none that is gone, not of the fork's own team, or that
    is private by now.

    One query, none where nothing is a fork. `project.team` should be loaded.
    """
    forks = [session for session in sessions if session.origin]
    if not forks:
        return {}
    rows = Session.objects.select_related("project__team", "root")
    found = rows.in_bulk({fork.origin for fork in forks})
    return {
        fork.pk: Origin(shown_title(origin), Place.of(origin).url("session"))
        for fork in forks
        if (origin := found.get(fork.origin)) and _is_told(origin, fork)
    }


def _is_told(origin: Session, fork: Session) -> bool:
    """Whether all who see the fork may know of it: a private session was open when it was made."""
    is_private = (origin.root or origin).is_private
    return origin.project.team_id == fork.project.team_id and (fork.is_private or not is_private)
