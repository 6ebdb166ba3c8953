"""How many commands of one owner run in this process at the same time; the others wait in line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from weakref import WeakKeyDictionary

_Loops = WeakKeyDictionary[asyncio.AbstractEventLoop, dict["Places", asyncio.Semaphore]]
_semaphores: _Loops = WeakKeyDictionary()


@dataclass(frozen=True)
class Places:
    """`most` commands of an `owner`; None for any number."""

    owner: str = ""
    most: int | None = None

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """Wait for a place, who came first before others, and give it back at the end."""
        if self.most is None:
            yield
            return
        # After a change of the limit those of before run to their end beside the new ones.
        of_loop = _semaphores.setdefault(asyncio.get_running_loop(), {})
        async with of_loop.setdefault(self, asyncio.Semaphore(self.most)):
            yield


ANY_NUMBER = Places()
