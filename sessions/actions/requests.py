"""The requests of a session that wait for a person, closed together when its turn ends."""

from __future__ import annotations

from typing import Literal

from sessions.events.questions import QuestionReplied
from sessions.events.types import PermissionReplied, SessionEvent
from sessions.models import Session


def close_requests(
    session: Session, reply: Literal["reject", "cancelled"], *, by_id: int | None, but: str = ""
) -> list[SessionEvent]:
    """Returns: the events that answer everything that is pending in a locked session.

    `but` is the id of a request to leave out.
    """
    events: list[SessionEvent] = [
        PermissionReplied(id=row.pk, reply=reply, by_id=by_id)
        for row in session.permissions.pending().exclude(pk=but)
    ]
    events += [
        QuestionReplied(id=row.pk, reply=reply, by_id=by_id)
        for row in session.questions.pending().exclude(pk=but)
    ]
    return events
