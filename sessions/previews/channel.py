"""One end of a connection that is carried over the bus: no gap, and no more than a window."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Literal, TypedDict

PIECE_BYTES = 64 * 1024
WINDOW_BYTES = 256 * 1024


class DataBody(TypedDict):
    """The `n`th piece, counted from 1. An empty one is the end of what this side sends."""

    t: Literal["data"]
    id: str
    n: int
    data: bytes


class TakenBody(TypedDict):
    """So many bytes of all that came have been taken."""

    t: Literal["taken"]
    id: str
    bytes: int


class CloseBody(TypedDict):
    """The connection is over, both ways."""

    t: Literal["close"]
    id: str


ChannelBody = DataBody | TakenBody | CloseBody


class Broken(ConnectionError):
    """The other side is gone, or something between the two got lost."""


class Channel:
    """One reader and one writer at a time. `close` it."""

    def __init__(self, id: str, send: Callable[[ChannelBody], None]) -> None:
        self.id = id
        self.used_at = time.monotonic()
        self._send = send
        self._pieces: deque[bytes] = deque()
        self._pieces_sent = self._pieces_heard = 0
        self._bytes_sent = self._bytes_acknowledged = 0
        self._bytes_taken = self._bytes_told = 0
        self._is_ended = self._is_closed = False
        self._readable = asyncio.Event()
        self._writable = asyncio.Event()

    @property
    def state(self) -> tuple[int, int]:
        """How many pieces were sent, and how many bytes of the other side were taken."""
        return self._pieces_sent, self._bytes_taken

    @property
    def has_news(self) -> bool:
        """Whether `read` would not wait."""
        return bool(self._pieces) or self._is_ended or self._is_closed

    @property
    def is_closed(self) -> bool:
        """Whether nothing can be sent any more."""
        return self._is_closed

    async def read(self) -> bytes:
        """Returns: b"" at the end. Raises: Broken when there is no end and nothing more comes."""
        while not self.has_news:
            self._readable.clear()
            await self._readable.wait()
        if not self._pieces:
            if self._is_ended:
                return b""
            raise Broken
        data = self._pieces.popleft()
        self._bytes_taken += len(data)
        if not self._is_closed and self._bytes_taken - self._bytes_told >= WINDOW_BYTES // 4:
            self._bytes_told = self._bytes_taken
            self._send({"t": "taken", "id": self.id, "bytes": self._bytes_taken})
        return data

    async def write(self, data: bytes) -> None:
        """Send, as soon as the other side has room for it. Raises: Broken."""
        for start in range(0, len(data), PIECE_BYTES):
            piece = data[start : start + PIECE_BYTES]
            while not self._has_room(len(piece)):
                self._writable.clear()
                await self._writable.wait()
            self._send_piece(piece)

    def finish(self) -> None:
        """Nothing follows on this side. Raises: Broken."""
        self._send_piece(b"")

    def close(self) -> None:
        """End it, both ways. What has come can still be read."""
        if not self._is_closed:
            self._send({"t": "close", "id": self.id})
            self._over()

    def take(self, body: ChannelBody) -> None:
        """Hear the other side."""
        self.used_at = time.monotonic()
        match body["t"]:
            case "data" if body["n"] != self._pieces_heard + 1:
                self.close()
            case "data" if not self._is_closed:
                self._pieces_heard += 1
                if body["data"]:
                    self._pieces.append(body["data"])
                else:
                    self._is_ended = True
                self._readable.set()
            case "taken":
                self._acknowledge(body["bytes"])
            case "close":
                self._over()

    def compare(self, pieces_sent: int, bytes_taken: int) -> None:
        """Hear what the other side has sent and taken so far; end it if something got lost."""
        if pieces_sent != self._pieces_heard:
            self.close()
        self._acknowledge(bytes_taken)

    def _has_room(self, size: int) -> bool:
        if self._is_closed:
            raise Broken
        return self._bytes_sent - self._bytes_acknowledged + size <= WINDOW_BYTES

    def _send_piece(self, piece: bytes) -> None:
        if self._is_closed:
            raise Broken
        self.used_at = time.monotonic()
        self._pieces_sent += 1
        self._bytes_sent += len(piece)
        self._send({"t": "data", "id": self.id, "n": self._pieces_sent, "data": piece})

    def _acknowledge(self, bytes_taken: int) -> None:
        self._bytes_acknowledged = max(self._bytes_acknowledged, bytes_taken)
        self._writable.set()

    def _over(self) -> None:
        self._is_closed = True
        self._readable.set()
        self._writable.set()
