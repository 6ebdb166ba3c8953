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
    return build_cards([(Place.of(session), waiting)])[0] if waiting else []


def build_cards(sessions: Sequence[tuple[Place, Sequence[Waiting]]]) -> list[list[Card]]:
    """Returns: the cards of each session, with one query for all."""
    messages = {row.message_id for _, waiting in sessions for row in waiting}
    parts = Part.objects.filter(message__in=messages, type="tool")
    reasons = reasons_of(list(parts.values_list("data", flat=True)))
    return [
        [
            _card(row, place, reasons.get(row.call_id, ""), position, len(waiting))
            for position, row in enumerate(waiting, start=1)
        ]
        for place, waiting in sessions
    ]


def _card(row: Waiting, place: Place, why: str, position: int, total: int) -> Card:
    if isinstance(row, QuestionRequest):
        return build_question_card(row, place, position=position, total=total)
    return build_card(row, place, position=position, total=total, why=why)


def load_queue(session: Session) -> list[QueuedPrompt]:
    inputs = sending_order(pending_inputs(session.pk))
    return build_queue(inputs, Place.of(session), idle=session.state == State.IDLE)
