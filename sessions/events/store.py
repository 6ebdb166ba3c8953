"""The only way into the log. Lock the session, append, and the rows follow in the same transaction.

with transaction.atomic():
    session = lock_session(session_id, token=lease.token)
    append(session, [PartUpdated(part=part)])
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from django.db import transaction
from django.utils import timezone

from opencode_web.lib.errors import NotFound
from sessions.events.live import publish_events
from sessions.events.projectors import Fold
from sessions.events.types import SCHEMA_VERSION, SessionCreated, SessionEvent
from sessions.models import Event, Project, Run, Session


class LeaseLost(Exception):
    """Another worker has taken the session over; the caller must write nothing more."""


def start_log(session_id: str, project: Project, event: SessionCreated) -> Session:
    """Make a session with its first event. Must run inside a transaction."""
    now = timezone.now()
    session = Session(
        id=session_id, project=project, state_since=now, created_at=now, updated_at=now
    )
    # The row has to exist before its event can refer to it; folding fills in the rest.
    session.save(force_insert=True)
    Run.objects.create(session=session)
    append(session, [event])
    return session


def lock_session(session_id: str, *, token: int | None = None) -> Session:
    """Lock the session's row until the transaction ends.

    Appends to one session are serialised by it.

    With `token` the caller must hold the lease under exactly that fencing token.

    Raises: NotFound when the session is gone; LeaseLost when the token is not the newest.
    """
    rows = Session.objects.select_for_update(of=("self",)).select_related("project")
    session = rows.filter(pk=session_id).first()
    if session is None:
        raise NotFound("Session", session_id)
    # A statement of its own: who waited for the lock would see other rows as they were before.
    session.run = Run.objects.select_related("stop_requested_by").get(session=session_id)
    if token is not None and session.run.token != token:
        raise LeaseLost(session_id)
    return session


def append(session: Session, events: Sequence[SessionEvent]) -> list[Event]:
    """Append to a locked session, fold the events into the rows, and publish them on commit.

    Returns: the stored events in order.
    """
    now = timezone.now()
    stored = Event.objects.bulk_create(
        Event(
            session=session,
            seq=session.seq + offset,
            type=event.type,
            schema_version=SCHEMA_VERSION,
            data=event.model_dump(mode="json", exclude_none=True, exclude={"type"}),
            time=now,
        )
        for offset, event in enumerate(events, start=1)
    )
    fold = Fold(session)
    for row, event in zip(stored, events, strict=True):
        fold.apply(event, seq=row.seq, time=now)
    fold.flush()
    transaction.on_commit(partial(publish_events, session, stored))
    return stored
