"""What is rolled back, and what can be done with one turn."""

from __future__ import annotations

from dataclasses import dataclass

from sessions.models import Message, Session
from sessions.present.place import Place


@dataclass(frozen=True)
class Reverted:
    """The line above the message field."""

    text: str
    restore_url: str


@dataclass(frozen=True)
class TurnMenu:
    """`id` is the turn's."""

    id: str
    fork_url: str
    revert_url: str
    delete_url: str


def load_reverted(session: Session) -> Reverted | None:
    """Returns: None while nothing is rolled back."""
    if session.hidden_from is None:
        return None
    count = Message.objects.hidden(session).filter(role="user").count()
    # An answer can be rolled back from its middle on, without any message of a person.
    what = f"{count} message{'' if count == 1 else 's'}" if count else "The end of the answer is"
    return Reverted(f"{what} rolled back", Place.of(session).url("restore"))


def build_turn_menu(turn_id: str, place: Place) -> TurnMenu:
    return TurnMenu(
        id=turn_id,
        fork_url=place.url("turn_fork", turn=turn_id),
        revert_url=place.url("turn_revert", turn=turn_id),
        delete_url=place.url("turn_delete", turn=turn_id),
    )
