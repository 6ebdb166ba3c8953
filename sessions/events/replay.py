from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Model

from opencode_web.lib.json import JsonObject, JsonValue
from sessions.events.projectors import Fold
from sessions.events.store import lock_session
from sessions.events.types import parse_event
from sessions.models import (
    Compaction,
    ContextEpoch,
    Event,
    Message,
    Outcome,
    Part,
    PermissionRequest,
    QuestionRequest,
    Session,
    SessionInput,
    State,
    TodoList,
    WaitsFor,
)
from teams.actions.usage import remove_usage
from teams.models import UsageEntry, User

# Everything that is folded from a log.
FOLDED: tuple[type[Model], ...] = (
    Session,
    Message,
    Part,
    SessionInput,
    PermissionRequest,
    QuestionRequest,
    ContextEpoch,
    Compaction,
    TodoList,
    UsageEntry,
)
Rows = dict[str, dict[str, Any]]  # of any table: columns by the key of their row
# Fields of events that hold the id of a person.
_WHO = ("owner_id", "author_id", "by_id")


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
    TodoList.objects.filter(session=session).delete()
    remove_usage(session_id)
    session.cost, session.summary, session.metadata = Decimal(0), {}, {}
    session.is_partly_unpriced = False
    session.state, session.outcome, session.outcome_detail = State.IDLE, Outcome.NONE, ""
    session.outcome_reason, session.turn_steps = {}, 0
    session.waits_for, session.wake_at, session.attempt = WaitsFor.NOTHING, None, 0
    session.archived_at = session.hidden_from = session.compacting_at = None
    session.revert, session.file_reverts, session.share = {}, [], {}
    session.context_tokens = session.context_limit = 0
    # Folding writes what it changes, so the start it changes from has to be in the row.
    session.save()
    fold = Fold(session)
    people = _People()
    for row in session.events.order_by("seq").iterator():
        event = parse_event(row.type, people.without_gone(row.data))
        fold.apply(event, seq=row.seq, time=row.time)
    fold.flush()
    return session


def read_rows(session_id: str) -> dict[str, Rows]:
    """Returns: the rows of a session as they are, for each of the folded tables."""
    tables: dict[str, Rows] = {}
    for model in FOLDED:
        own = {"pk" if model is Session else "session": session_id}
        rows = model._default_manager.filter(**own).order_by("pk").values()
        tables[model.__name__] = {str(row[model._meta.pk.attname]): row for row in rows}
    return tables


class _People:
    """The log names people who have no account any more. Rows name nobody then."""

    def __init__(self) -> None:
        self._exists: dict[int, bool] = {}

    def without_gone(self, data: JsonObject) -> JsonObject:
        gone = {key for key in _WHO if key in data and not self._is_there(data[key])}
        return {key: value for key, value in data.items() if key not in gone} if gone else data

    def _is_there(self, user_id: JsonValue) -> bool:
        if not isinstance(user_id, int):
            return True
        if user_id not in self._exists:
            self._exists[user_id] = User.objects.filter(pk=user_id).exists()
        return self._exists[user_id]
