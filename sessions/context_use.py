"""How much of the context a conversation takes up after a rollback or its undoing."""

from __future__ import annotations

from decimal import Decimal

from django.db.models import Q

from sessions.events.messages import Tokens
from sessions.events.types import SessionEvent, SessionUsed
from sessions.models import Session

# What says how long the conversation is, and what makes that unknown. Only an answer names its
# model: what is said again below must not be found by the next rollback.
_SAID = (
    Q(type="session.used", data__context__isnull=False, data__model_id__isnull=False)
    | Q(type="session.compacted")
    | Q(type__in=("message.removed", "part.removed"))
)


def restored_context(session: Session) -> list[SessionEvent]:
    """The event that says again what the log last said of the messages that can be seen.

    Returns: nothing when that is not known.
    """
    newest = session.events.filter(_SAID).order_by("-seq")
    if session.hidden_from is not None:
        newest = newest.filter(seq__lt=session.hidden_from)
    event = newest.first()
    tokens = event.data.get("context", event.data.get("after", 0)) if event is not None else 0
    limit = session.context_limit
    if not tokens or not limit:
        return []
    nothing = Tokens()
    return [SessionUsed(cost=Decimal(0), tokens=nothing, context=tokens, context_limit=limit)]
