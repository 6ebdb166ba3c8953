"""A client of a terminal, as OpenCode's own is: it reads all the time and counts what it got."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from channels.testing import WebsocketCommunicator

from sessions.consumers import websocket_application

PATIENCE_S = 30
Headers = Iterable[tuple[bytes, bytes]]


class Refused(Exception):
    pass


class Shell:
    def __init__(self, socket: WebsocketCommunicator) -> None:
        self.socket = socket
        self.text = ""
        self.cursor = 0
        self.whole = ""

    async def next(self) -> dict[str, Any]:
        message: dict[str, Any] = await self.socket.receive_output(PATIENCE_S)
        if message["type"] == "websocket.send":
            self._take(message)
        return message

    def _take(self, message: dict[str, Any]) -> None:
        data = message.get("bytes")
        if data is None:
            self.text += message["text"]
            self.whole += message["text"]
            self.cursor += len(message["text"].encode("utf-16-le")) // 2
            return
        assert data[:1] == b"\0"
        frame = json.loads(data[1:])
        assert list(frame) in (["cursor"], ["rows", "cols"])
        self.cursor = frame.get("cursor", self.cursor)

    async def begun(self) -> None:
        """After what was missed comes the place in the output."""
        while (await self.next()).get("bytes") is None:
            pass

    async def control(self) -> bytes:
        """The next frame that is no output and does not say where it is."""
        while b"cursor" in (data := (await self.next()).get("bytes") or b"cursor"):
            pass
        return bytes(data)

    async def took(self, units: int) -> None:
        await self.socket.send_to(bytes_data=b"\0" + json.dumps({"taken": units}).encode())

    async def type(self, text: str) -> None:
        await self.socket.send_to(text_data=text)

    async def until(self, wanted: str) -> str:
        try:
            async with asyncio.timeout(PATIENCE_S):
                while wanted not in self.text:
                    message = await self.next()
                    assert message["type"] == "websocket.send", (message, self.text)
        except TimeoutError as exc:
            raise AssertionError(f"{wanted!r} is not in {self.text!r}") from exc
        seen, wanted, self.text = self.text.partition(wanted)
        return seen + wanted

    async def closed(self) -> int:
        while (message := await self.next())["type"] != "websocket.close":
            pass
        return int(message["code"])


@asynccontextmanager
async def attached(
    terminal_id: str, headers: Headers, *, query: str = "", path: str = "pty"
) -> AsyncIterator[Shell]:
    address = f"/{path}/{terminal_id}/connect?{query}"
    socket = WebsocketCommunicator(
        websocket_application, address, [(b"host", b"localhost"), *headers]
    )
    accepted, _ = await socket.connect(PATIENCE_S)
    if not accepted:
        raise Refused
    try:
        yield Shell(socket)
    finally:
        if not socket.future.done():
            await socket.disconnect()
