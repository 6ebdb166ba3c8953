"""Whether the worker's memory stays level over many turns."""

from __future__ import annotations

import asyncio

from bench.api import Api
from bench.processes import Child

# The memory is looked at after so many turns.
EARLY, LATE = 100, 1_000
_AT_ONCE = 10
_TURNS_OF_A_SESSION = 10


async def measure_growth(api: Api, child: Child, *, early: int, late: int) -> tuple[int, int]:
    """Returns: bytes that the worker holds after so many short turns, each time when it is idle."""
    await _take_turns(api, early)
    await child.settle()
    before = child.worker_rss()
    await _take_turns(api, late - early)
    await child.settle()
    return before, child.worker_rss()


async def _take_turns(api: Api, count: int) -> None:
    sessions = iter(range(max(1, count // _TURNS_OF_A_SESSION)))

    async def lane() -> None:
        for _ in sessions:
            session = await api.create_session()
            for _ in range(_TURNS_OF_A_SESSION):
                await api.prompt(session, "BENCH text")

    await asyncio.gather(*(lane() for _ in range(_AT_ONCE)))
