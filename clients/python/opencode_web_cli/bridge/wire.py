"""Lines of JSON from and to an editor: the transport below the SDK's `Connection`."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

logger = logging.getLogger(__name__)

# Room for a prompt with pictures.
MAX_LINE_BYTES = 16 * 1024 * 1024
_CHUNK_BYTES = 64 * 1024
_CHUNKS_AHEAD = 16
_TOO_LONG = {"code": -32600, "message": "Invalid request: the message is too long"}

# Next bytes, none at the end.
Read = Callable[[], Awaitable[bytes]]
Write = Callable[[bytes], Awaitable[None]]


class Lines:
    """Cuts bytes into lines of a limited length."""

    def __init__(self, limit: int = MAX_LINE_BYTES) -> None:
        self.limit = limit
        self._begun = bytearray()
        self._skips = False

    def cut(self, chunk: bytes) -> Iterator[bytes | None]:
        """Yields complete lines; None in place of one that is too long."""
        *complete, rest = chunk.split(b"\n")
        for line in complete:
            if self._keep(line):
                yield bytes(self._begun)
            else:
                yield None
            self._begun.clear()
            self._skips = False
        self._keep(rest)

    def _keep(self, piece: bytes) -> bool:
        if self._skips or len(self._begun) + len(piece) > self.limit:
            self._skips = True
            self._begun.clear()
        else:
            self._begun += piece
        return not self._skips


class LineTransport:
    """Implements the SDK's `Transport`. Lines that are no messages are logged and dropped."""

    def __init__(self, read: Read, write: Write, *, limit: int = MAX_LINE_BYTES) -> None:
        self._read, self._write = read, write
        self.lines = Lines(limit)
        self._ready: deque[bytes | None] = deque()

    async def receive(self) -> dict[str, Any] | None:
        """Returns: the next message, None at the end."""
        while True:
            while self._ready:
                line = self._ready.popleft()
                if line is None:
                    await self.send({"jsonrpc": "2.0", "id": None, "error": _TOO_LONG})
                elif line.strip() and (message := parse_message(line)) is not None:
                    return message
            chunk = await self._read()
            if not chunk:
                return None
            self._ready.extend(self.lines.cut(chunk))

    async def send(self, message: dict[str, Any]) -> None:
        """Writes before it waits for anything, so that messages stay in the order of the calls."""
        await self._write(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    async def close(self) -> None:
        """Nothing is kept open here; whoever made `read` and `write` closes them."""


def parse_message(line: bytes) -> dict[str, Any] | None:
    """Returns: a message that the SDK can take, else None."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        logger.warning("A line that is no JSON was ignored (%d bytes).", len(line))
        return None
    if not isinstance(message, dict) or not _is_sound(message):
        logger.warning("A line that is no message was ignored (%d bytes).", len(line))
        return None
    return message


def _is_sound(message: dict[str, Any]) -> bool:
    if not isinstance(message.get("id"), int | str | None):
        return False
    if "method" in message:
        return isinstance(message["method"], str)
    return isinstance(message.get("error"), dict | None)


def standard_streams() -> tuple[Read, Write]:
    """Returns: standard input and output; the loop of the caller reads.

    Input may be a pipe, a file or a terminal, so a thread reads it: event loops take some of these
    only on some systems. It ends with the process.
    """
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes] = asyncio.Queue(_CHUNKS_AHEAD)
    source, target = sys.stdin.fileno(), sys.stdout.fileno()

    def pump() -> None:
        chunk = b"begin"
        while chunk:
            try:
                chunk = os.read(source, _CHUNK_BYTES)
            except OSError:
                chunk = b""
            try:
                asyncio.run_coroutine_threadsafe(chunks.put(chunk), loop).result()
            except RuntimeError:
                return  # the loop is over

    threading.Thread(target=pump, name="stdin", daemon=True).start()

    async def write(data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(target, rest) :]

    return chunks.get, write
