"""Notice a model that repeats itself. Pure; the cost is bounded by the sizes below.

- The same call with equal arguments three times in a row in one answer: asked (`doom_loop`).
- One text that repeats itself without end within a stream: the turn is stopped.

Equal calls of different answers are counted by `turn_limits`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from sessions.events.parts import ToolPart

# Source: behaviour facts 3.4.
SAME_CALLS = 3

# A unit of up to a thousand characters that fills this window was written six times or more.
WINDOW_CHARS = 6_000
_PROBE_CHARS = 2_000
_MAX_UNIT_CHARS = _PROBE_CHARS // 2


def find_repeats(calls: Sequence[ToolPart], *, after_text: Collection[str] = ()) -> dict[str, str]:
    """Find the calls of one answer that are at least the third equal one in a row.

    `after_text` has the ids of calls with text or reasoning before them, which ends a row.

    Returns: by the id of such a call the `callID` of the first of its row that is one. All of a row
    are allowed or rejected together.
    """
    repeats: dict[str, str] = {}
    row: list[ToolPart] = []
    for part in calls:
        if row and (part.id in after_text or not _is_same(part, row[-1])):
            row = []
        row.append(part)
        if len(row) >= SAME_CALLS:
            repeats[part.id] = row[SAME_CALLS - 1].callID
    return repeats


def _is_same(part: ToolPart, other: ToolPart) -> bool:
    # Equal as JSON: to Python, 1 and true would be equal too.
    return part.tool == other.tool and (
        json.dumps(part.state.input, sort_keys=True)
        == json.dumps(other.state.input, sort_keys=True)
    )


def inner_id(call_id: str, number: int) -> str:
    """Returns: the id of a call that the batch `call_id` made."""
    return f"{call_id}_b{number}"


class Monologue:
    """Watches one growing text. Each character is looked at about twice the window's step."""

    def __init__(self) -> None:
        self._tail = ""
        self._unchecked = 0

    def grow(self, text: str) -> bool:
        """Returns: whether the end of the text is one short piece, again and again."""
        self._tail = (self._tail + text)[-WINDOW_CHARS:]
        self._unchecked += len(text)
        if self._unchecked < _MAX_UNIT_CHARS or len(self._tail) < WINDOW_CHARS:
            return False
        self._unchecked = 0
        return _unit_chars(self._tail) is not None


def _unit_chars(text: str) -> int | None:
    """Returns: the length of the piece that the whole text repeats; None when there is none."""
    probe = text[-_PROBE_CHARS:]
    # Where the end of the text stood before: if it repeats, that is one unit further ahead.
    found = text.rfind(probe, -_PROBE_CHARS - _MAX_UNIT_CHARS, -1)
    if found < 0:
        return None
    unit = len(text) - _PROBE_CHARS - found
    return unit if text[unit:] == text[:-unit] else None
