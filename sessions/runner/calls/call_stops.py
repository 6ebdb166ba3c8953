"""A person ends one call that runs in this process; the turn goes on with what it has done."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from opencode_web.lib.json import JsonObject
from tools.errors import StoppedByPerson


@dataclass
class _Open:
    limit: asyncio.Timeout
    loop: asyncio.AbstractEventLoop
    by: str = ""


# By the id of the part. Lost with the process, as the calls are.
_open: dict[str, _Open] = {}


@asynccontextmanager
async def stoppable(part_id: str) -> AsyncIterator[None]:
    """Let `hear_stop` end the block. Raises: StoppedByPerson when it did."""
    limit = asyncio.timeout(None)
    call = _Open(limit, asyncio.get_running_loop())
    try:
        async with limit:
            _open[part_id] = call
            try:
                yield
            finally:
                del _open[part_id]
    except TimeoutError as exc:
        if not limit.expired():
            raise
        raise StoppedByPerson(call.by) from exc


def hear_stop(message: JsonObject) -> None:
    """End the call of a `call stop` message, when it runs here. Of two people the first counts.

    It may run on another loop than the listener.
    """
    part_id = str(message.get("part"))
    call = _open.get(part_id)
    if call is not None and not call.by:
        call.by = str(message.get("by"))
        call.loop.call_soon_threadsafe(_end, part_id, call)


def _end(part_id: str, call: _Open) -> None:
    if _open.get(part_id) is call:  # it may have come to its end by itself
        call.limit.reschedule(call.loop.time())
