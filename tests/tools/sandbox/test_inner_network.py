from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from tools.sandbox.base import Command, Sandbox
from tools.sandbox.bubblewrap import BubblewrapSandbox
from tools.sandbox.pty import Size, Terminal, open_terminal

SERVE = """
import http.server, socket, sys, threading
class Here(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"from inside")
class Six(http.server.HTTPServer):
    address_family = socket.AF_INET6
servers = [http.server.HTTPServer(("127.0.0.1", 0), Here), Six(("::1", 0), Here)]
print("ports", *[one.server_address[1] for one in servers], "end", flush=True)
for one in servers:
    threading.Thread(target=one.serve_forever, daemon=True).start()
sys.stdin.readline()
"""


@contextlib.asynccontextmanager
async def serving(sandbox: Sandbox, worktree: Path, *, shared: bool) -> AsyncIterator[Terminal]:
    assert isinstance(sandbox, BubblewrapSandbox)
    command = Command(("python3", "-c", SERVE), worktree, None, network=True)
    async with open_terminal(replace(sandbox, network=shared), command, Size()) as terminal:
        yield terminal


async def told(terminal: Terminal) -> list[int]:
    text = b""
    async with asyncio.timeout(25):
        while b"end" not in text:
            text += await terminal.read()
    return [int(word) for word in text.split() if word.isdigit()]


async def get(terminal: Terminal, port: int) -> bytes:
    with await terminal.network.connect(port) as made:
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(made, b"GET / HTTP/1.0\r\n\r\n")
        said = b""
        while chunk := await loop.sock_recv(made, 4096):
            said += chunk
    return said


@pytest.mark.parametrize("shared", [False, True])
async def test_only_what_runs_inside_is_listed_and_reached(
    sandbox: Sandbox, worktree: Path, shared: bool
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as foreign:
        outside = foreign.getsockname()[1]
        async with serving(sandbox, worktree, shared=shared) as terminal:
            ports = await told(terminal)
            assert await terminal.network.ports() == sorted(ports)
            for port in ports:
                assert (await get(terminal, port)).endswith(b"from inside")
            with pytest.raises(ConnectionRefusedError):
                await terminal.network.connect(outside)
            await terminal.write(b"\n")
            await terminal.wait()
            assert await terminal.network.ports() == []
            with pytest.raises(ConnectionRefusedError):
                await terminal.network.connect(ports[0])
