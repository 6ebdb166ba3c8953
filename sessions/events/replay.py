from __future__ import annotations

from decimal import Decimal

from django.db import transaction

from sessions.events.projectors import Fold
from sessions.events.store import lock_session
from sessions.events.types import parse_event
from sessions.models import ContextEpoch, Event, Outcome, Session, State, WaitsFor


def events_after(session_id: str, seq: int, *, limit: int = 1000) -> list[Event]:
    """Returns: events with a higher sequence number, in order, at most `limit`."""
    return list(Event.objects.filter(session_id=session_id, seq__gt=seq).order_by("seq")[:limit])


@transaction.atomic
def rebuild(session_id: str) -> Session:
    """Drop the projections of a session and fold its whole log again."""
    session = lock_session(session_id)
    session.messages.all().delete()
    session.inputs.all().delete()
    session.permissions.all().delete()
    session.questions.all().delete()
    ContextEpoch.objects.filter(session=session).delete()
    session.cost, session.summary, session.metadata = Decimal(0), {}, {}
    session.state, session.outcome, session.outcome_detail = State.IDLE, Outcome.NONE, ""
    session.waits_for, session.wake_at, session.attempt = WaitsFor.NOTHING, None, 0
    session.archived_at = session.hidden_from = None
    session.revert = {}
    session.context_tokens = session.context_limit = 0
    # Folding writes what it changes, so the start it changes from has to be in the row.
    session.save()
    fold = Fold(session)
    for row in session.events.order_by("seq").iterator():
        fold.apply(parse_event(row.type, row.data), seq=row.seq, time=row.time)
    fold.flush()
    return session
