"""One pool of guarded connections per event loop, for all calls of providers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary

import httpx
from django.conf import settings
from django.utils.module_loading import import_string

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


_pools: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncBaseTransport] = WeakKeyDictionary()


@asynccontextmanager
async def one_time_pool() -> AsyncIterator[httpx.AsyncBaseTransport]:
    """Have connections for a few requests on a loop that ends with them."""
    opened = _open()
    try:
        yield opened
    finally:
        await opened.aclose()


def _open() -> httpx.AsyncBaseTransport:
    opened: httpx.AsyncBaseTransport = import_string(settings.PROVIDER_TRANSPORT)()
    return opened


def pool() -> httpx.AsyncBaseTransport:
    """Return the pool of the running loop. Connections cannot be shared between loops."""
    loop = asyncio.get_running_loop()
    if loop not in _pools:
        _pools[loop] = _open()
    return _pools[loop]


async def close_pool() -> None:
    """Close the running loop's idle connections; call it before the loop ends."""
    found = _pools.pop(asyncio.get_running_loop(), None)
    if found is not None:
        await found.aclose()
