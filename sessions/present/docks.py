"""The rows behind the docks above the message field."""

from __future__ import annotations

from collections.abc import Sequence

from sessions.inbox import pending_inputs, sending_order
from sessions.models import Part, QuestionRequest, Session, State
from sessions.present.asks import PermissionCard, build_card, reasons_of
from sessions.present.history import Waiting
from sessions.present.place import Place
from sessions.present.questions import QuestionCard, build_question_card
from sessions.present.queue import QueuedPrompt, build_queue

Card = PermissionCard | QuestionCard


def load_cards(session: Session, waiting: Sequence[Waiting]) -> list[Card]:
    """A card for each request, in the order they were asked."""
    if not waiting:
        return []
    parts = Part.objects.filter(message__in={row.message_id for row in waiting}, type="tool")
    reasons = reasons_of(list(parts.values_list("data", flat=True)))
    place, total = Place.of(session), len(waiting)
    return [
        build_question_card(row, place, position=position, total=total)
        if isinstance(row, QuestionRequest)
        else build_card(
            row, place, position=position, total=total, why=reasons.get(row.call_id, "")
        )
        for position, row in enumerate(waiting, start=1)
    ]


def load_queue(session: Session) -> list[QueuedPrompt]:
    inputs = sending_order(pending_inputs(session.pk))
    return build_queue(inputs, Place.of(session), idle=session.state == State.IDLE)
