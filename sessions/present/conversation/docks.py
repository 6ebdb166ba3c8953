"""The rows behind the docks above the message field."""

from __future__ import annotations

from collections.abc import Sequence

from sessions.events.stored import StoredTool
from sessions.inbox import not_begun, pending_inputs, sending_order
from sessions.models import Part, PermissionRequest, QuestionRequest, Session, State
from sessions.present.conversation.asks import (
    PermissionCard,
    build_card,
    can_go_together,
    said_together,
)
from sessions.present.conversation.history import Waiting
from sessions.present.conversation.questions import QuestionCard, build_question_card
from sessions.present.conversation.queue import QueuedPrompt, build_queue
from sessions.present.place import Place
from sessions.rules.second_person import second_person

Card = PermissionCard | QuestionCard


def load_cards(session: Session, waiting: Sequence[Waiting]) -> list[Card]:
    """A card for each request, in the order they were asked."""
    return build_cards([(Place.of(session), waiting)])[0] if waiting else []


def build_cards(sessions: Sequence[tuple[Place, Sequence[Waiting]]]) -> list[list[Card]]:
    """Returns: the cards of each session, with one query for all."""
    messages = {row.message_id for _, waiting in sessions for row in waiting}
    parts = Part.objects.filter(message__in=messages, type="tool")
    calls = {part["callID"]: part for part in parts.values_list("data", flat=True)}
    return [_cards_of(place, waiting, calls) for place, waiting in sessions]


def _cards_of(place: Place, waiting: Sequence[Waiting], calls: dict[str, StoredTool]) -> list[Card]:
    cards, total = list[Card](), len(waiting)
    several = [
        said_together(row, place)
        for row in waiting
        if isinstance(row, PermissionRequest) and can_go_together(row)
    ]
    # They are all of one tree.
    asking = next((row.session for row in waiting if _needs_second_person(row)), None)
    second = second_person(asking, asking.project.team) if asking else None
    for position, row in enumerate(waiting, start=1):
        if isinstance(row, QuestionRequest):
            cards.append(build_question_card(row, place, position=position, total=total))
            continue
        together = several if len(several) > 1 and row.pk == several[0].id else []
        cards.append(
            build_card(
                row,
                place,
                position=position,
                total=total,
                call=calls.get(row.call_id),
                together=together,
                second=second,
            )
        )
    return cards


def _needs_second_person(row: Waiting) -> bool:
    return isinstance(row, PermissionRequest) and row.second_person


def load_queue(session: Session) -> list[QueuedPrompt]:
    inputs = sending_order(pending_inputs(session.pk))
    begun = not (inputs and not_begun([session]))
    idle = session.state == State.IDLE
    return build_queue(inputs, Place.of(session), idle=idle, begun=begun)
