from __future__ import annotations

from dataclasses import dataclass

from sessions.models import Session
from sessions.present.place import Place
from sessions.present.sessions import shown_title


@dataclass(frozen=True)
class TitleEdit:
    """The form of a new title, with what was wrong about one. `now`: the one that it has."""

    title: str
    now: str
    url: str
    close_url: str
    back_url: str
    error: str = ""


def build_title_edit(session: Session, *, typed: str | None = None, error: str = "") -> TitleEdit:
    """`typed`: what somebody wanted to save and could not."""
    place = Place.of(session)
    url = place.url("rename")
    now = shown_title(session)
    return TitleEdit(
        now if typed is None else typed, now, url, f"{url}?close=1", place.url("session"), error
    )
