"""The only way into the log. Lock the session, append, and the rows follow in the same transaction.

with transaction.atomic():
    session = lock_session(session_id, token=lease.token)
    append(session, [PartUpdated(part=part)])
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from opencode_web.lib.compiled import CompiledInsert, CompiledQuery
from opencode_web.lib.errors import NotFound
from sessions.events.hidden import hide_in_events
from sessions.events.live import publish_events
from sessions.events.outbox import (
    announcements,
    note_mentions,
    note_replies,
    write_deliveries,
    write_notifications,
)
from sessions.events.projectors import Fold
from sessions.events.types import SCHEMA_VERSION, SessionCreated, SessionEvent
from sessions.models import Event, Project, Run, Session


def _locked_runs() -> QuerySet[Run]:
    # Both rows are locked, so that who waited for the lock sees both as they are now. The session
    # is locked first: whoever locks the lease alone holds no other lock.
    #
    # Not against rows that refer to these, as keys never change: who commits such a row, or has
    # written the row of a sub-agent twice, would wait for this lock while holding the sub-agent's,
    # which whoever holds this one may be waiting for. Only `delete_session` locks against those.
    rows = Run.objects.select_for_update(of=("session", "self"), no_key=True)
    return rows.select_related("session__project__team")


_LOCKED = CompiledQuery(lambda session_id: _locked_runs().filter(session=session_id), str)
_EVENTS = CompiledInsert(Event)


class LeaseLost(Exception):
    """Another worker has taken the session over; the caller must write nothing more."""


class SessionGone(NotFound):
    """The session does not exist, or no longer."""

    def __init__(self, session_id: str) -> None:
        super().__init__("Session", session_id)


def start_log(session_id: str, project: Project, event: SessionCreated) -> Session:
    """Make a session with its first event. Must run inside a transaction."""
    now = timezone.now()
    session = Session(
        id=session_id,
        project=project,
        state_since=now,
        created_at=now,
        updated_at=now,
        active_at=now,
    )
    # The row has to exist before its event can refer to it; folding fills in the rest.
    session.save(force_insert=True)
    Run.objects.create(session=session)
    append(session, [event])
    return session


def lock_session(session_id: str, *, token: int | None = None) -> Session:
    """Lock the session's row and its lease until the transaction ends.

    Appends to one session are serialised by it.

    With `token` the caller must hold the lease under exactly that fencing token.

    Raises: SessionGone; LeaseLost when the token is not the newest.
    """
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("A session is locked within a transaction.")
    run = _LOCKED.first(session_id)
    if run is None:
        raise SessionGone(session_id)
    if token is not None and run.token != token:
        raise LeaseLost(session_id)
    return run.session


def lock_below(session: Session) -> list[Session]:
    """Lock the sub-agents of a locked session, and theirs at any depth, as `lock_session` does.

    Each takes prompts under its own lock alone. None is added while all are held: who starts one
    locks its parent.

    Returns: them as they are now, in the order of every lock in a tree: level by level.
    """
    found: list[Session] = []
    level = [session]
    while level:
        runs = _locked_runs().filter(session__parent__in=level).order_by("pk")
        level = [run.session for run in runs]
        found += level
    return found


def append(
    session: Session, events: Sequence[SessionEvent], *, publish: bool = True
) -> list[Event]:
    """Append to a locked session, fold the events into the rows, and publish them on commit.

    Without events nothing is written. Well-known keys are taken out. What webhooks are told of is
    written to their outbox in the same transaction.

    `publish` is False for the copied history of a session that nobody can be watching yet.

    Returns: the stored events in order.
    """
    if not events:
        return []
    now = timezone.now()
    kept = hide_in_events(
        session.project,
        [
            (event, event.model_dump(mode="json", exclude_none=True, exclude={"type"}))
            for event in events
        ],
    )
    events = [event for event, _ in kept]
    stored = [
        Event(
            session=session,
            seq=session.seq + offset,
            type=event.type,
            schema_version=SCHEMA_VERSION,
            data=data,
            time=now,
        )
        for offset, (event, data) in enumerate(kept, start=1)
    ]
    _EVENTS.write(stored)
    told = announcements(session, events) if publish else []
    fold = Fold(session)
    for row, event in zip(stored, events, strict=True):
        fold.apply(event, seq=row.seq, time=now)
    fold.flush()
    write_deliveries(session, told, now=now)
    write_notifications(session, told, now=now)
    if publish:
        note_mentions(session, events, now=now)
        note_replies(session, events, now=now)
        transaction.on_commit(partial(publish_events, session, stored))
    return stored
