"""Where sessions stand in the line for a worker, for the rooms that show it.

The line moves with the work of every team. So nothing is sent at each step: while somebody shows a
session that waits, one query every `LOOK_S` reads the line for all rooms of the loop.
"""

from __future__ import annotations

import asyncio
from weakref import WeakKeyDictionary

from opencode_web.lib.db import in_view_db
from sessions.queue_position import NO_PLACE, PlaceInLine, read_line

LOOK_S = 2.0

_readings: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Task[dict[str, PlaceInLine]]]
_readings = WeakKeyDictionary()


class PlacesInLine:
    """The sessions of one room that may wait for a worker, and which place of each was shown."""

    def __init__(self) -> None:
        self._asked: set[str] = set()
        self._shown: dict[str, PlaceInLine] = {}
        self._some = asyncio.Event()

    @property
    def shown(self) -> set[str]:
        """Those of whom a place was shown."""
        return {session_id for session_id, place in self._shown.items() if place.number}

    def follow(self, *session_ids: str) -> None:
        """Look where these stand. Whoever does not wait for a worker is forgotten again."""
        self._asked.update(session_ids)
        if self._asked:
            self._some.set()

    async def moved(self) -> set[str]:
        """Wait until some stand elsewhere. Returns: those, to be drawn anew."""
        while True:
            await self._some.wait()
            asked, self._asked = self._asked, set()
            before = {**self._shown, **dict.fromkeys(asked, NO_PLACE)}
            line = await _next_reading()
            self._shown = {one: line[one] for one in before if one in line}
            if not self._shown and not self._asked:
                self._some.clear()
            moved = {one for one, place in self._shown.items() if place != before[one]}
            if moved:
                return moved


async def _next_reading() -> dict[str, PlaceInLine]:
    """Returns: the line as it was read after this call, once for all who have called meanwhile."""
    loop = asyncio.get_running_loop()
    if loop not in _readings:
        _readings[loop] = asyncio.create_task(_read(loop), name="line")
    # Shielded: a room that closes must not take the answer from the others.
    return await asyncio.shield(_readings[loop])


async def _read(loop: asyncio.AbstractEventLoop) -> dict[str, PlaceInLine]:
    await asyncio.sleep(LOOK_S)
    # Who asks from here on may have been told something newer than what is read now.
    del _readings[loop]
    return await in_view_db(read_line)
