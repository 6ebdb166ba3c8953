"""The newest mentions of a person, in the inbox until they open the session."""

from __future__ import annotations

from django.urls import reverse

from sessions.models import Notification, NotificationKind
from sessions.notifications.channels.base import Line
from sessions.notifications.messages import find_mention, title_of
from sessions.visibility import sessions_in
from teams.access import TeamAccess
from teams.models import User

MAX_SHOWN = 5
_KEPT = Notification.State.KEPT


def unread_mentions(access: TeamAccess) -> list[Line]:
    """The newest first. None that was rolled back, or in a session that the person sees no more."""
    rows = access.user.notifications.filter(state=_KEPT, session__in=sessions_in(access))
    found = []
    for row in rows.select_related("session").order_by("-created_at", "-pk")[:MAX_SHOWN]:
        assert row.session is not None
        what, place = find_mention(row, row.session)
        if what:
            page = {"team": access.team.slug, "session": row.session.pk}
            path = reverse("sessions:session", kwargs=page) + place
            kind = NotificationKind.MENTIONED
            found.append(Line(what, title_of(row.session), path, kind, access.team, row.session.pk))
    return found


def read_mentions(user: User, session_id: str) -> None:
    """The person has opened a session. Mostly nothing is kept, and it is only read."""
    rows = user.notifications.filter(state=_KEPT, session=session_id)
    if rows.exists():
        rows.delete()
