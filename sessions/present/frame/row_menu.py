"""What somebody can do with a session in a list."""

from __future__ import annotations

from dataclasses import dataclass

from sessions.access import SessionAccess
from sessions.actions.privacy import may_change_privacy
from sessions.models import Pin
from sessions.present.place import Place
from sessions.present.sessions import shown_title

# Key of a person's preferences: {"width": pixels, "closed": bool}.
RAIL_TASTE = "rail"
# The style sheet has a rule for each, so that a page is drawn with it at once.
RAIL_WIDTHS = range(200, 401, 20)


@dataclass(frozen=True)
class RowMenu:
    id: str
    title: str
    url: str
    pinned: bool
    archived: bool
    pin_url: str
    rename_url: str
    share_url: str
    archive_url: str
    delete_url: str
    private: bool
    # Empty for who may not decide it.
    privacy_url: str


def load_row_menu(access: SessionAccess) -> RowMenu:
    session = access.session
    place = Place.of(session)
    return RowMenu(
        id=session.pk,
        title=shown_title(session),
        url=place.url("session"),
        pinned=Pin.objects.filter(user=access.principal.user, session=session).exists(),
        archived=session.archived_at is not None,
        pin_url=place.url("pin"),
        rename_url=place.url("rename"),
        share_url=place.url("shares"),
        archive_url=place.url("archive"),
        delete_url=place.url("delete"),
        private=session.is_private,
        privacy_url=place.url("privacy") if may_change_privacy(access.team, session) else "",
    )
