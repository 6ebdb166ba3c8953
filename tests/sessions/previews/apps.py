from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

from sessions.previews.exchange import ask_ports
from sessions.previews.serving import serve_previews

PATIENCE_S = 20


class Loopback:
    """The network of the test, in which one server listens."""

    port = 0

    async def ports(self) -> list[int]:
        return [self.port]

    async def connect(self, port: int) -> socket.socket:
        made = socket.socket()
        made.setblocking(False)
        await asyncio.get_running_loop().sock_connect(made, ("127.0.0.1", port))
        return made


@contextlib.asynccontextmanager
async def app(handle: Callable[..., Any]) -> AsyncIterator[Loopback]:
    """An app of the terminal `pty_1`."""
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server, served(server) as network:
        yield network


@contextlib.asynccontextmanager
async def served(server: Any, terminal_id: str = "pty_1") -> AsyncIterator[Loopback]:
    network = Loopback()
    network.port = server.sockets[0].getsockname()[1]
    async with asyncio.timeout(PATIENCE_S), serve_previews(terminal_id, network):
        while await ask_ports([terminal_id]) != {terminal_id: [network.port]}:
            await asyncio.sleep(0)
        yield network
