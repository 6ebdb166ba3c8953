"""How much output is on its way to one client: the server buffers without end what none takes."""

from __future__ import annotations

import time

# Of a client that says what it has taken. Units: UTF-16 units.
WINDOW_UNITS = 256 * 1024
# Of one that does not, which the genuine clients are: so much at once, and then so much a second.
# A client that answers no ping for half a minute is cut off, so this bounds what waits for it.
BURST_UNITS = 4 * 1024 * 1024
UNITS_PER_S = 512 * 1024


class Window:
    """For a client that acknowledges."""

    def __init__(self) -> None:
        self._on_the_way = 0

    def has_room(self) -> bool:
        """Whether more may be sent now."""
        return self._on_the_way < WINDOW_UNITS

    def sent(self, units: int) -> None:
        """So much more is on its way."""
        self._on_the_way += units

    def taken(self, units: int) -> None:
        """The client has so much of it."""
        self._on_the_way = max(self._on_the_way - units, 0)


class Allowance:
    """For a client that says nothing. It fills again with time."""

    def __init__(self) -> None:
        self._left = float(BURST_UNITS)
        self._at = time.monotonic()

    def has_room(self) -> bool:
        """Whether more may be sent now."""
        now = time.monotonic()
        self._left = min(BURST_UNITS, self._left + (now - self._at) * UNITS_PER_S)
        self._at = now
        return self._left > 0

    def sent(self, units: int) -> None:
        """So much more is on its way."""
        self._left -= units

    def taken(self, units: int) -> None:
        """It is not told."""
