"""The rows behind the docks above the message field."""

from __future__ import annotations

from sessions.inbox import pending_inputs
from sessions.models import Part, PermissionRequest, Session, SessionInput, State
from sessions.present.asks import (
    PermissionCard,
    QueuedPrompt,
    build_cards,
    build_queue,
    reasons_of,
)
from sessions.present.place import Place


def load_cards(session: Session, waiting: list[PermissionRequest]) -> list[PermissionCard]:
    if not waiting:
        return []
    parts = Part.objects.filter(message__in={row.message_id for row in waiting}, type="tool")
    reasons = reasons_of(list(parts.values_list("data", flat=True)))
    return build_cards(waiting, Place.of(session), reasons)


def load_queue(session: Session) -> list[QueuedPrompt]:
    pending = [row.pk for row in pending_inputs(session.pk)]
    rows = SessionInput.objects.filter(pk__in=pending).select_related("author")
    idle = session.state == State.IDLE
    return build_queue(list(rows.order_by("admitted_seq")), Place.of(session), idle=idle)
