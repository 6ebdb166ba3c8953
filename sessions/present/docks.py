"""The rows behind the docks above the message field."""

from __future__ import annotations

from sessions.inbox import pending_inputs, sending_order
from sessions.models import Part, PermissionRequest, Session, State
from sessions.present.asks import PermissionCard, build_cards, reasons_of
from sessions.present.place import Place
from sessions.present.queue import QueuedPrompt, build_queue


def load_cards(session: Session, waiting: list[PermissionRequest]) -> list[PermissionCard]:
    if not waiting:
        return []
    parts = Part.objects.filter(message__in={row.message_id for row in waiting}, type="tool")
    reasons = reasons_of(list(parts.values_list("data", flat=True)))
    return build_cards(waiting, Place.of(session), reasons)


def load_queue(session: Session) -> list[QueuedPrompt]:
    inputs = sending_order(pending_inputs(session.pk))
    return build_queue(inputs, Place.of(session), idle=session.state == State.IDLE)
