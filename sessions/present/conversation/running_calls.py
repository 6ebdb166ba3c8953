"""What runs in sessions just now, in a few words, for lists of them."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import OuterRef, Subquery

from sessions.models import Message, Part, Session
from sessions.present.conversation.tools import build_tool_row
from sessions.present.place import Place


def calls_at_work(sessions: Collection[Session]) -> dict[str, str]:
    """Returns: the call that runs, such as `Shell pytest -q`, by the id of its session.

    `session.project.team` should be loaded. One query; only the newest answers are looked at.
    """
    places = {session.pk: Place.of(session) for session in sessions}
    if not places:
        return {}
    newest = Message.objects.filter(session=OuterRef("pk")).order_by("-seq").values("pk")[:1]
    answers = Session.objects.filter(pk__in=places).values(newest=Subquery(newest))
    parts = Part.objects.filter(message__in=answers, type="tool", data__state__status="running")
    found: dict[str, str] = {}
    # Of several that run at once the one that began last.
    for part in parts.order_by("seq", "id"):
        row = build_tool_row(part.data, places[part.session_id])
        found[part.session_id] = f"{row.verb} {row.object}".strip()
    return found
