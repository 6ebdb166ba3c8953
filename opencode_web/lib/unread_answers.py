"""Answers that a client does not read: how much of them waits in memory, and for how long.

Daphne keeps whatever the application sends until the client has taken it, without bound. Here the
application waits instead, and a client that takes nothing is cut off.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from django.conf import settings

from opencode_web.lib.daphne import http_protocol

# What is written at once. Twisted's transport asks for a pause when it holds that much.
PIECE_BYTES = 64 * 1024

# Of each address the connections that do not read, the oldest first. Used on the reactor's thread
# only.
_unread: dict[str, dict[UnreadChannel, None]] = {}


class UnreadChannel(http_protocol.http.HTTPChannel):  # type: ignore[misc]  # daphne ships no types
    """A connection, also one that has become a websocket: its transport says when it is full."""

    # Whose connection it is; empty where that is not known.
    _address = ""
    _cut_off: Any = None  # twisted's delayed call
    _drained: asyncio.Event | None = None

    def pauseProducing(self) -> None:
        super().pauseProducing()
        if self._drained is not None:
            return
        self._drained = asyncio.Event()
        if settings.RESPONSE_TIMEOUT_S:
            self._cut_off = self.callLater(settings.RESPONSE_TIMEOUT_S, self._abort)
        if self._address and settings.UNREAD_RESPONSES:
            others = _unread.setdefault(self._address, {})
            others[self] = None
            if len(others) > settings.UNREAD_RESPONSES:
                next(iter(others))._abort()

    def resumeProducing(self) -> None:
        self._settle()
        super().resumeProducing()

    def stopProducing(self) -> None:
        self._settle()
        super().stopProducing()

    async def drained(self) -> None:
        """Wait until the client has read what was sent, or is gone."""
        if self._drained is not None:
            await self._drained.wait()

    def _settle(self) -> None:
        if self._drained is not None:
            self._drained.set()
            self._drained = None
        if self._cut_off is not None and self._cut_off.active():
            self._cut_off.cancel()
        others = _unread.get(self._address, {})
        others.pop(self, None)
        if not others:
            _unread.pop(self._address, None)

    def _abort(self) -> None:
        self._settle()
        self.transport.abortConnection()


async def wait_for_reader(protocol: Any) -> None:
    """Wait until more can be sent to a connection of Daphne's."""
    channel = getattr(protocol, "channel", None) or getattr(protocol.transport, "producer", None)
    if isinstance(channel, UnreadChannel):
        await channel.drained()


def pieces_of(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a message of the application so that none has more than PIECE_BYTES of a body."""
    body = message.get("body", b"")
    last = max(0, len(body) - 1) // PIECE_BYTES * PIECE_BYTES
    for start in range(0, last, PIECE_BYTES):
        yield {**message, "body": body[start : start + PIECE_BYTES], "more_body": True}
    yield {**message, "body": body[last:]} if last else message
