"""Requests to people, and until when they may be answered: for ever, unless the settings say."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import Min
from django.utils import timezone

from opencode_web.lib.ids import new_id
from sessions.config.effective import project_limits
from sessions.events.questions import QuestionReplied
from sessions.events.store import append
from sessions.events.types import PermissionAsked, PermissionReplied, SessionEvent
from sessions.models import Session
from sessions.runner.log.settle import now_ms


def new_request(session: Session, **fields: Any) -> PermissionAsked:
    """A request with the deadline that the settings set. `fields`: the rest of the event."""
    return PermissionAsked(id=new_id("per"), until=deadline_ms(session), **fields)


def deadline_ms(session: Session) -> int | None:
    """Until when a request that is made now may be answered. Units: ms since the epoch."""
    timeout_s = project_limits(session.project).permission_timeout_s
    return None if timeout_s is None else now_ms() + timeout_s * 1000


def next_deadline(session: Session) -> datetime | None:
    """Returns: when the first pending request of the session runs out, None when none does."""
    firsts = (
        rows.exclude(expires_at=None).aggregate(first=Min("expires_at"))["first"]
        for rows in (session.permissions.pending(), session.questions.pending())
    )
    return min((first for first in firsts if first is not None), default=None)


def expire_requests(session: Session) -> None:
    """Settle what nobody has answered in time, in a locked session."""
    permissions, questions = (
        rows.filter(expires_at__lte=timezone.now()).order_by("expires_at", "pk")
        for rows in (session.permissions.pending(), session.questions.pending())
    )
    events: list[SessionEvent] = [
        *(PermissionReplied(id=row.pk, reply="expired") for row in permissions),
        *(QuestionReplied(id=row.pk, reply="expired") for row in questions),
    ]
    append(session, events)
