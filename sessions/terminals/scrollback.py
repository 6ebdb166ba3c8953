"""What a terminal has written, as far back as it is kept. Positions count UTF-16 units.

OpenCode's clients count what they got as JavaScript does, and come back with that number.
"""

from __future__ import annotations

from dataclasses import dataclass

UNIT_BYTES = 2
_CODEC = "utf-16-le"


@dataclass(frozen=True)
class ScrollbackPiece:
    """Text, and how many units were written before it."""

    at: int
    text: str

    @property
    def end(self) -> int:
        return self.at + count_units(self.text)

    def after(self, position: int) -> ScrollbackPiece:
        """Returns: what of it comes after a position; all of it when it begins there or later."""
        if position <= self.at:
            return self
        data = self.text.encode(_CODEC)[(position - self.at) * UNIT_BYTES :]
        return ScrollbackPiece(position, data.decode(_CODEC, "replace"))


def count_units(text: str) -> int:
    """How many UTF-16 units a text has."""
    return len(text) if text.isascii() else len(text.encode(_CODEC)) // UNIT_BYTES


class Scrollback:
    """The newest `limit` units."""

    def __init__(self, limit: int) -> None:
        self._limit_bytes = limit * UNIT_BYTES
        self._data = bytearray()
        self.start = 0

    @property
    def end(self) -> int:
        return self.start + len(self._data) // UNIT_BYTES

    def add(self, text: str) -> ScrollbackPiece:
        """Keep what was written. Returns: it, with its place."""
        piece = ScrollbackPiece(self.end, text)
        self._data += text.encode(_CODEC)
        # Seldom, because everything behind the cut moves.
        if len(self._data) > self._limit_bytes * 5 // 4:
            cut = len(self._data) - self._limit_bytes
            del self._data[:cut]
            self.start += cut // UNIT_BYTES
        return piece

    def read(self, position: int, *, most: int) -> ScrollbackPiece:
        """Returns: at most so many units from a position on, or from where it still has them."""
        at = min(max(position, self.start), self.end)
        first = (at - self.start) * UNIT_BYTES
        data = self._data[first : first + most * UNIT_BYTES]
        if len(data) == most * UNIT_BYTES and 0xD8 <= data[-1] <= 0xDB:
            # Half a character: the other half begins the next piece.
            del data[-UNIT_BYTES:]
        return ScrollbackPiece(at, data.decode(_CODEC, "replace"))
