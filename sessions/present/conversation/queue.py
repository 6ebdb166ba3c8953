"""The prompts that wait in the inbox, above the message field."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from opencode_web.lib.ids import new_id
from sessions.inbox import Boundary, is_compaction, own_text, select_inputs, writer_of
from sessions.models import SessionInput
from sessions.present.data import first_line
from sessions.present.place import Place

_STEER, _QUEUE = SessionInput.Delivery.STEER, SessionInput.Delivery.QUEUE


@dataclass(frozen=True)
class QueuedPrompt:
    id: str
    # "Next", then "2" and so on: in the order of sending.
    place: str
    author: str
    # Who wrote the text as it is now, when that is not the author.
    edited_by: str
    text: str
    mode: str
    revision: int
    # What the other delivery is, and its name in the form; empty while a stop holds everything.
    other_mode: str
    other: str
    deliver_url: str
    # Empty where there is no text.
    edit_url: str
    remove_url: str
    # Empty where there is nothing to be moved past.
    move_url: str
    is_first: bool
    is_last: bool
    # Empty while the turn goes on, and for all but the first: they are sent together.
    send_url: str


@dataclass(frozen=True)
class QueueEdit:
    """A waiting prompt that somebody changes. `now`: what it says, when that is not `text`.

    Once it waits no more, what was typed can be sent as a new message with `new_id`.
    """

    id: str
    text: str
    revision: int
    url: str
    close_url: str
    now: str = ""
    error: str = ""
    new_id: str = ""


def build_queue(
    inputs: list[SessionInput], place: Place, *, idle: bool, begun: bool
) -> list[QueuedPrompt]:
    """`inputs` in the order of sending. `idle`: a stop has held them; `begun`: a worker has taken
    what came before them.
    """
    first = [] if begun else select_inputs(inputs, Boundary.TURN)
    return [
        _row(inputs, index, place, idle=idle, opens=row in first)
        for index, row in enumerate(inputs)
    ]


def _row(
    inputs: list[SessionInput], index: int, place: Place, *, idle: bool, opens: bool
) -> QueuedPrompt:
    """`opens`: the turn begins with it."""
    row = inputs[index]
    # Steers go before what is queued, whatever the order: only neighbours of a kind change places.
    is_first = not index or inputs[index - 1].delivery != row.delivery
    is_last = index + 1 == len(inputs) or inputs[index + 1].delivery != row.delivery
    writer = writer_of(row)
    compacts = is_compaction(row)
    text = first_line(" ".join(own_text(row).split()), 200) or _("Files")
    return QueuedPrompt(
        id=row.pk,
        place=_("Next") if not index else str(index + 1),
        author=row.author.display_name if row.author else _("Someone"),
        edited_by=writer.display_name if writer and row.edited_by_id else "",
        text=_("Compact the conversation") if compacts else text,
        mode=_mode(row, idle=idle, opens=opens),
        revision=row.revision,
        other_mode="" if idle or compacts else _(_OTHER_MODE[row.delivery]),
        other=_STEER if row.delivery == _QUEUE else _QUEUE,
        deliver_url=place.url("deliver", prompt=row.pk),
        edit_url="" if compacts else place.url("edit_queued", prompt=row.pk),
        remove_url=place.url("unqueue", prompt=row.pk),
        move_url="" if is_first and is_last else place.url("move_queued", prompt=row.pk),
        is_first=is_first,
        is_last=is_last,
        send_url=place.url("resume") if idle and not index else "",
    )


_OTHER_MODE: dict[str, str] = {
    _QUEUE: gettext_noop("Send now, after this step"),
    _STEER: gettext_noop("Send after this turn"),
}


def _mode(row: SessionInput, *, idle: bool, opens: bool) -> str:
    if idle:
        return _("Held: sends after your next message")
    if opens:
        return _("Sends when a worker is free")
    return _("Sends after this turn") if row.delivery == _QUEUE else _("Sends after this step")


def build_edit(
    row: SessionInput, place: Place, *, typed: str | None = None, error: str = ""
) -> QueueEdit:
    """`typed`: what somebody wanted to save and could not."""
    now = own_text(row)
    url = place.url("edit_queued", prompt=row.pk)
    return QueueEdit(
        id=row.pk,
        text=now if typed is None else typed,
        revision=row.revision,
        url=url,
        close_url=f"{url}?close=1",
        now=now if typed is not None and typed != now else "",
        error=error,
        new_id="" if row.status == SessionInput.Status.ADMITTED else new_id("msg"),
    )
