"""Connections to apps for httpcore, through the bus."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from weakref import WeakKeyDictionary

import httpcore

from sessions.previews import exchange
from sessions.previews.channel import Channel

# At one terminal, from this process. Browsers open six to a host.
MAX_CONNECTIONS = 24
_KEPT = 6
# Shorter than dev servers keep theirs.
_KEPT_S = 4.0


class TunnelStream(httpcore.AsyncNetworkStream):
    """One connection to an app. No limits of time: the person's browser ends what it waits for."""

    def __init__(self, channel: Channel, stack: AsyncExitStack) -> None:
        self._channel = channel
        self._stack = stack
        self._rest = b""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            data = self._rest or await self._channel.read()
        except ConnectionError as exc:
            raise httpcore.ReadError(str(exc)) from exc
        self._rest = data[max_bytes:]
        return data[:max_bytes]

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        try:
            await self._channel.write(buffer)
        except ConnectionError as exc:
            raise httpcore.WriteError(str(exc)) from exc

    async def aclose(self) -> None:
        await self._stack.aclose()

    def get_extra_info(self, info: str) -> Any:  # as httpcore types it
        # Asked of a connection that is kept: with news it is at its end.
        return self._channel.has_news if info == "is_readable" else None


class _Backend(httpcore.AsyncNetworkBackend):
    def __init__(self, terminal_id: str) -> None:
        self._terminal_id = terminal_id

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        try:
            return await open_stream(self._terminal_id, port)
        except OSError as exc:
            raise httpcore.ConnectError(str(exc)) from exc

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


async def open_stream(terminal_id: str, port: int) -> TunnelStream:
    """Connect to an app. Raises: OSError when none answers."""
    async with AsyncExitStack() as stack:
        channel = await stack.enter_async_context(exchange.connect(terminal_id, port))
        return TunnelStream(channel, stack.pop_all())


class _Pool:
    def __init__(self, terminal_id: str) -> None:
        self.users = 0
        self.connections = httpcore.AsyncConnectionPool(
            max_connections=MAX_CONNECTIONS,
            max_keepalive_connections=_KEPT,
            keepalive_expiry=_KEPT_S,
            network_backend=_Backend(terminal_id),
        )


_pools: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, _Pool]] = WeakKeyDictionary()
_closing: set[asyncio.Task[None]] = set()


@asynccontextmanager
async def pool_of(terminal_id: str) -> AsyncIterator[httpcore.AsyncConnectionPool]:
    """Have the connections of this loop to the apps of a terminal; the last user closes them."""
    pools = _pools.setdefault(asyncio.get_running_loop(), {})
    pool = pools.setdefault(terminal_id, _Pool(terminal_id))
    pool.users += 1
    try:
        yield pool.connections
    finally:
        pool.users -= 1
        if not pool.users:
            # The next request of a page comes soon.
            task = asyncio.create_task(_close_unused(pools, terminal_id, pool))
            _closing.add(task)
            task.add_done_callback(_closing.discard)


async def _close_unused(pools: dict[str, _Pool], terminal_id: str, pool: _Pool) -> None:
    await asyncio.sleep(_KEPT_S)
    if not pool.users and pools.get(terminal_id) is pool:
        del pools[terminal_id]
        await pool.connections.aclose()
