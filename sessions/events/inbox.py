"""What happens to a prompt between its admission and its promotion."""

from __future__ import annotations

from typing import Literal

from sessions.events.messages import Frozen, UserMessage
from sessions.events.parts import AnyPart

Delivery = Literal["steer", "queue"]


class InputAdmitted(Frozen):
    """A prompt entered the inbox, whole: `info` and `parts` are what it becomes when promoted."""

    type: Literal["input.admitted"] = "input.admitted"
    author_id: int | None = None
    delivery: Delivery
    info: UserMessage
    parts: list[AnyPart]


class InputPromoted(Frozen):
    """The input leaves the inbox; its message and parts follow as their own events."""

    type: Literal["input.promoted"] = "input.promoted"
    id: str


class InputCancelled(Frozen):
    """Somebody took the input back before it was promoted."""

    type: Literal["input.cancelled"] = "input.cancelled"
    id: str
    by_id: int | None = None


class InputChanged(Frozen):
    """Only what is set changes. `parts` are all parts as they are now, written by `by_id`."""

    type: Literal["input.changed"] = "input.changed"
    id: str
    parts: list[AnyPart] | None = None
    delivery: Delivery | None = None
    by_id: int | None = None


class InputsReordered(Frozen):
    """The inputs that wait, in their new order."""

    type: Literal["inputs.reordered"] = "inputs.reordered"
    ids: list[str]
    by_id: int | None = None
