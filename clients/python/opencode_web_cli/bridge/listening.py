"""`--listen`: editors on a loopback port, each with a key that was printed for it alone."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from opencode_web_cli.bridge.server import Json
from opencode_web_cli.bridge.wire import MAX_LINE_BYTES, LineTransport

KEY_METHOD = "opencode-web-key"
_CHUNK_BYTES = 64 * 1024
# Of who has not shown the key yet.
_MAX_STRANGERS = 8
_STRANGER_S = 30.0
_STRANGER_LINE_BYTES = 16 * 1024
_NO_KEY: Json = {
    "code": -32000,
    "message": "Authentication required: begin with `authenticate` and the key that was printed",
}

Serve = Callable[[LineTransport], Awaitable[None]]


@dataclass(frozen=True)
class Address:
    """Of this machine only."""

    host: str
    port: int


def parse_address(text: str) -> Address:
    """Read `HOST:PORT`. Raises: ValueError for what other machines could reach."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not port.isdecimal() or int(port) > 65535:
        raise ValueError(f"{text!r} is no HOST:PORT")
    try:
        is_loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_loopback = host == "localhost"
    if not is_loopback:
        raise ValueError(f"{host or text!r} is no loopback address, such as 127.0.0.1")
    return Address(host, int(port))


async def listen(address: Address, serve: Serve) -> None:
    """Serve whoever shows the key, until this is cancelled."""
    gate = _Gate(serve)
    server = await asyncio.start_server(gate.welcome, address.host, address.port)
    host, port = server.sockets[0].getsockname()[:2]
    print(f"Listening on {host}:{port}", flush=True)
    gate.print_key()
    async with server:
        await server.serve_forever()


class _Gate:
    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._strangers = 0
        self._key = secrets.token_urlsafe(32)

    def print_key(self) -> None:
        print(f"Key for the next connection: {self._key}", flush=True)

    async def welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def read() -> bytes:
            try:
                return await reader.read(_CHUNK_BYTES)
            except ConnectionError:
                return b""

        async def write(data: bytes) -> None:
            writer.write(data)
            await writer.drain()

        wire = LineTransport(read, write, limit=_STRANGER_LINE_BYTES)
        try:
            if await self._is_admitted(wire):
                wire.lines.limit = MAX_LINE_BYTES
                await self._serve(wire)
        except ConnectionError:
            return
        finally:
            writer.close()

    async def _is_admitted(self, wire: LineTransport) -> bool:
        if self._strangers >= _MAX_STRANGERS:
            return False
        self._strangers += 1
        try:
            async with asyncio.timeout(_STRANGER_S):
                first = await wire.receive()
        except TimeoutError:
            return False
        finally:
            self._strangers -= 1
        if first is None:
            return False
        answer: Json = {"jsonrpc": "2.0", "id": first.get("id")}
        if not hmac.compare_digest(_key_of(first).encode(), self._key.encode()):
            await wire.send({**answer, "error": _NO_KEY})
            return False
        self._key = secrets.token_urlsafe(32)
        self.print_key()
        await wire.send({**answer, "result": {}})
        return True


def _key_of(message: Json) -> str:
    params: Any = message.get("params")
    if message.get("method") != "authenticate" or not isinstance(params, dict):
        return ""
    meta = params.get("_meta")
    key = meta.get("key") if isinstance(meta, dict) else None
    if params.get("methodId") != KEY_METHOD or not isinstance(key, str):
        return ""
    return key if key.isascii() else ""
