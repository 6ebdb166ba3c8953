"""Requests to people, and until when they may be answered: for ever, unless the settings say."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from opencode_web.lib.ids import new_id
from sessions.config import project_limits
from sessions.events.store import append
from sessions.events.types import PermissionAsked, PermissionReplied
from sessions.models import PermissionRequest, Session
from sessions.runner.settle import now_ms


def new_request(session: Session, **fields: Any) -> PermissionAsked:
    """A request with the deadline that the settings set. `fields`: the rest of the event."""
    timeout_s = project_limits(session.project).permission_timeout_s
    until = None if timeout_s is None else now_ms() + timeout_s * 1000
    return PermissionAsked(id=new_id("per"), until=until, **fields)


def next_deadline(session: Session) -> datetime | None:
    """Returns: when the first pending request of the session runs out, None when none does."""
    first = _pending(session).exclude(expires_at=None).order_by("expires_at").first()
    return first.expires_at if first is not None else None


def expire_requests(session: Session) -> None:
    """Settle what nobody has answered in time, in a locked session."""
    late = _pending(session).filter(expires_at__lte=timezone.now()).order_by("expires_at", "pk")
    events = [PermissionReplied(id=request.pk, reply="expired") for request in late]
    if events:
        append(session, events)


def _pending(session: Session) -> QuerySet[PermissionRequest]:
    return session.permissions.filter(status=PermissionRequest.Status.PENDING)
