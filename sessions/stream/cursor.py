"""Where a stream over many sessions stands in the log, exactly.

Event ids are given out before their transactions commit, so a smaller id can appear after a larger
one. A cursor therefore names the newest event that was sent and, as bits, which of the ids shortly
before it were not: `1042`, or `1042-5` when 1041 and 1039 have not come (bit 0 is 1041).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Ids before the newest whose transactions may still be open. At 500 events a second that is 0.5 s.
WINDOW = 256
_MASK = (1 << WINDOW) - 1
_PATTERN = re.compile(r"([0-9]{1,18})(?:-([0-9a-f]{1,64}))?")


@dataclass(frozen=True)
class Cursor:
    """`newest` has been dealt with; so has every id before it whose bit in `missing` is not set."""

    newest: int
    missing: int = 0

    def __str__(self) -> str:
        return f"{self.newest}-{self.missing:x}" if self.missing else str(self.newest)

    @classmethod
    def parse(cls, text: str) -> Cursor | None:
        """Read a `Last-Event-ID`. Returns: None when it is not one of ours."""
        match = _PATTERN.fullmatch(text.strip())
        if match is None:
            return None
        return cls(int(match[1]), int(match[2] or "0", 16) & _MASK)

    def has(self, event_id: int) -> bool:
        """Whether the event was dealt with already."""
        if event_id >= self.newest:
            return event_id == self.newest
        return not self.missing >> (self.newest - event_id - 1) & 1

    def add(self, event_id: int) -> Cursor:
        """Returns: the cursor with this event dealt with; ids passed over are missing."""
        step = event_id - self.newest
        if step < 0:
            return Cursor(self.newest, self.missing & ~(1 << (-step - 1)))
        if step == 0:
            return self
        if step > WINDOW:
            return Cursor(event_id, _MASK)
        return Cursor(event_id, ((self.missing << step) | ((1 << (step - 1)) - 1)) & _MASK)

    def missing_ids(self) -> list[int]:
        """Returns: the ids before `newest` that have not come."""
        return [self.newest - bit - 1 for bit in range(WINDOW) if self.missing >> bit & 1]
