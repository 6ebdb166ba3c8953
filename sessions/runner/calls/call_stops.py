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
    by: str = ""


# By the id of the part. Lost with the process, as the calls are.
_open: dict[str, _Open] = {}


@asynccontextmanager
async def stoppable(part_id: str) -> AsyncIterator[None]:
    """Let `hear_stop` end the block. Raises: StoppedByPerson when it did."""
    limit = asyncio.timeout(None)
    call = _Open(limit)
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
    """End the call of a `call stop` message, when it runs here. Of two people the first counts."""
    call = _open.get(str(message.get("part")))
    if call is not None and not call.by:
        call.by = str(message.get("by"))
        call.limit.reschedule(asyncio.get_running_loop().time())
