"""Websockets to apps, for hot reload among others: message by message, both ways."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from websockets.client import ClientProtocol
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from sessions.actions.previews import Visit
from sessions.consumers.preview.connections import TunnelStream
from sessions.consumers.preview.forward import target_of
from sessions.consumers.preview.headers import to_app
from sessions.consumers.preview.race import first_of
from sessions.previews.origin import origin_of
from sessions.stream.rights import COME_BACK

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

# Of one message of the app, and of those of a page that the app has not taken.
MAX_MESSAGE_BYTES = 16 * 1024 * 1024
MAX_WAITING_BYTES = 4 * 1024 * 1024
_READ_BYTES = 65_536


class TooMuchWaiting(Exception):
    """A page sends faster than the app reads."""


class Upgrade:
    """One websocket of a page, and its own to the app."""

    def __init__(self, scope: dict[str, Any], visit: Visit, stream: TunnelStream) -> None:
        self._target = target_of(scope).decode("latin-1")
        uri = parse_uri(f"ws://localhost:{visit.port}/")
        self._protocol = ClientProtocol(
            uri, subprotocols=scope["subprotocols"] or None, max_size=MAX_MESSAGE_BYTES
        )
        self._stream = stream
        self._headers = to_app(
            scope["headers"],
            port=visit.port,
            origin=origin_of(visit.label, visit.app_origin),
        )
        self._writing = asyncio.Lock()
        self._parts: list[bytes] = []
        self._is_text = False
        self._waiting: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._waiting_bytes = 0

    async def open(self) -> str | None:
        """Shake hands with the app.

        Returns: the subprotocol that it has chosen. Raises: ConnectionError when it refuses.
        """
        request = self._protocol.connect()
        request.path = self._target
        for name, value in self._headers:
            if name not in {b"host", b"accept-encoding"}:
                request.headers[name.decode("latin-1")] = value.decode("latin-1")
        self._protocol.send_request(request)
        await self._flush()
        while self._protocol.state is State.CONNECTING:
            await self._hear()
            if self._protocol.handshake_exc is not None:
                raise ConnectionRefusedError(str(self._protocol.handshake_exc))
        return self._protocol.subprotocol

    async def serve(self, receive: Receive, send: Send) -> None:
        """Pass messages on until either side closes. Raises: OSError, TooMuchWaiting."""
        await first_of(self._from_app(send), self._to_app(), self._from_page(receive))

    async def _from_app(self, send: Send) -> None:
        while True:
            for event in self._protocol.events_received():
                # The handshake is over: what follows are frames.
                if isinstance(event, Frame) and (message := self._message(event)):
                    await send(message)
            if self._protocol.close_expected() or self._protocol.state is State.CLOSED:
                break
            await self._hear()
            await self._flush()
        code = self._protocol.close_code or 0
        # Autobahn sends no others.
        is_sent = code == CloseCode.NORMAL_CLOSURE or 3000 <= code < 5000
        await send({"type": "websocket.close", "code": code if is_sent else COME_BACK})

    def _message(self, frame: Frame) -> dict[str, Any] | None:
        if frame.opcode in {Opcode.TEXT, Opcode.BINARY}:
            self._parts, self._is_text = [], frame.opcode is Opcode.TEXT
        elif frame.opcode is not Opcode.CONT:
            return None
        self._parts.append(bytes(frame.data))
        if not frame.fin:
            return None
        data = b"".join(self._parts)
        if self._is_text:
            return {"type": "websocket.send", "text": data.decode("utf-8", "replace")}
        return {"type": "websocket.send", "bytes": data}

    async def _from_page(self, receive: Receive) -> None:
        """Take what comes at once: what was not taken would wait without bound before us."""
        while True:
            message = await receive()
            self._waiting_bytes += _size(message)
            if self._waiting_bytes > MAX_WAITING_BYTES:
                raise TooMuchWaiting
            self._waiting.put_nowait(message)
            if message["type"] == "websocket.disconnect":
                await asyncio.Event().wait()  # the other task ends with this message

    async def _to_app(self) -> None:
        while True:
            message = await self._waiting.get()
            if message["type"] == "websocket.disconnect":
                if self._protocol.state is State.OPEN:
                    self._protocol.send_close(CloseCode.GOING_AWAY)
                    await self._flush()
                return
            if (text := message.get("text")) is not None:
                self._protocol.send_text(text.encode())
            else:
                self._protocol.send_binary(message.get("bytes") or b"")
            await self._flush()
            self._waiting_bytes -= _size(message)

    async def _hear(self) -> None:
        data = await self._stream.read(_READ_BYTES)
        if data:
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()

    async def _flush(self) -> None:
        async with self._writing:
            for data in self._protocol.data_to_send():
                if data:
                    await self._stream.write(data)


def _size(message: dict[str, Any]) -> int:
    return len(message.get("text") or message.get("bytes") or b"")
