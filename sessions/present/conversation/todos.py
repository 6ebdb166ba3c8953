"""The agent's list above the message field: one line, and all items when it is opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Max
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from opencode_web.lib.json import JsonObject, text_of
from sessions.models import Session, SessionInput, State, TodoList
from sessions.present.data import first_line

_OVER = ("completed", "cancelled")
_SAID = {
    "pending": gettext_noop("To do"),
    "in_progress": gettext_noop("In progress"),
    "completed": gettext_noop("Done"),
    "cancelled": gettext_noop("Dropped"),
}


@dataclass(frozen=True)
class TodoRow:
    """`said` is the status in words; `urgent` is only said of what matters most."""

    content: str
    status: str
    said: str
    urgent: bool


@dataclass(frozen=True)
class TodoView:
    """`total` leaves out what was dropped. `current` is in progress, or comes next."""

    done: int
    total: int
    current: str
    items: list[TodoRow]


def load_todo_dock(session: Session) -> TodoView | None:
    """Returns: None when nothing is left to do, or a later turn has gone by without the list."""
    row = TodoList.objects.filter(session=session).first()
    if row is None or all(text_of(item, "status") in _OVER for item in row.items):
        return None
    if session.state == State.IDLE:
        promoted = session.inputs.filter(status=SessionInput.Status.PROMOTED)
        if row.seq < (promoted.aggregate(seq=Max("promoted_seq"))["seq"] or 0):
            return None
    return build_todos(row.items)


def build_todos(items: Sequence[JsonObject]) -> TodoView:
    """Count the items and name the one at hand."""
    rows = [_row(item) for item in items]
    wanted = [row for row in rows if row.status != "cancelled"]
    at_hand = [row for row in wanted if row.status == "in_progress"]
    at_hand += [row for row in wanted if row.status == "pending"]
    return TodoView(
        done=sum(row.status == "completed" for row in wanted),
        total=len(wanted),
        current=first_line(at_hand[0].content) if at_hand else "",
        items=rows,
    )


def _row(item: JsonObject) -> TodoRow:
    status = text_of(item, "status")
    known = status if status in _SAID else "pending"
    return TodoRow(
        content=text_of(item, "content"),
        status=known,
        said=_(_SAID[known]),
        urgent=text_of(item, "priority") == "high" and known not in _OVER,
    )
