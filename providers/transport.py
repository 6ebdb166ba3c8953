"""One pool of guarded connections per event loop, for all calls of providers."""

from __future__ import annotations

import asyncio
from weakref import WeakKeyDictionary

from opencode_web.lib.outbound import GuardedTransport

MAX_CONNECTIONS = 1_000
MAX_IDLE_CONNECTIONS = 100
KEEP_ALIVE_S = 30.0


class Pool(GuardedTransport):
    """Guarded connections that are kept for the next turn."""

    def __init__(self) -> None:
        super().__init__(
            max_connections=MAX_CONNECTIONS,
            max_keepalive_connections=MAX_IDLE_CONNECTIONS,
            keepalive_expiry=KEEP_ALIVE_S,
        )


_pools: WeakKeyDictionary[asyncio.AbstractEventLoop, Pool] = WeakKeyDictionary()


def pool() -> Pool:
    """Return the pool of the running loop. Connections cannot be shared between loops."""
    loop = asyncio.get_running_loop()
    if loop not in _pools:
        _pools[loop] = Pool()
    return _pools[loop]


async def close_pool() -> None:
    """Close the running loop's idle connections; call it before the loop ends."""
    found = _pools.pop(asyncio.get_running_loop(), None)
    if found is not None:
        await found.aclose()
