"""Limits on how long a request may take to arrive, and on how many of one address are under way.

Daphne waits for a request for as long as a byte comes every minute. So a client could keep any
number of connections, each with a few bytes of a header or a body. What has arrived is not limited
here; see `unread_answers` for what goes the other way.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings

from opencode_web.lib.addresses import client_network
from opencode_web.lib.daphne import http_protocol
from opencode_web.lib.unread_answers import UnreadChannel

# That much of a body has to come in each REQUEST_BODY_TIMEOUT_S.
BODY_PROGRESS_BYTES = 4096
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

# Of each address the connections whose request is not complete, the oldest first. A dictionary,
# because a set has no order. Used on the reactor's thread only.
_arriving: dict[str, dict[LimitedChannel, None]] = {}


class LimitedChannel(UnreadChannel):
    """A connection: a header, perhaps a body, then the answer, and the same again."""

    maxHeaders = 100
    # Twisted's own timer starts again with each byte.
    timeOut: float | None = None
    _timer: Any = None  # twisted's delayed call
    _is_idle = False
    _has_header = False
    _seen_bytes = 0

    def connectionMade(self) -> None:
        self.timeOut = None  # the factory has set it
        # A trusted proxy has everybody's connections.
        if not settings.TRUSTED_PROXY_COUNT:
            self._address = client_network(getattr(self.transport.getPeer(), "host", "") or "")
        super().connectionMade()
        self._begin()

    def dataReceived(self, data: bytes) -> None:
        if self._is_idle:
            self._begin()
        super().dataReceived(data)

    def allHeadersReceived(self) -> None:
        self._has_header, self._seen_bytes = True, 0
        self._wait(settings.REQUEST_BODY_TIMEOUT_S)
        super().allHeadersReceived()

    def allContentReceived(self) -> None:
        self._wait(0)
        self._leave()
        super().allContentReceived()

    def requestDone(self, request: Any) -> None:
        if self.persistent:
            self._is_idle = True
            self._wait(settings.KEEP_ALIVE_TIMEOUT_S)
        super().requestDone(request)

    def connectionLost(self, reason: Any) -> None:
        self._wait(0)
        self._leave()
        super().connectionLost(reason)

    def _begin(self) -> None:
        self._is_idle = self._has_header = False
        self._wait(settings.REQUEST_HEADER_TIMEOUT_S)
        if not self._address or not settings.UNFINISHED_REQUESTS:
            return
        others = _arriving.setdefault(self._address, {})
        others[self] = None
        if len(others) > settings.UNFINISHED_REQUESTS:
            # Honest headers arrive at once, so it hits whoever holds connections open.
            slowest = next((each for each in others if not each._has_header), self)
            slowest._end()

    def _leave(self) -> None:
        others = _arriving.get(self._address, {})
        others.pop(self, None)
        if not others:
            _arriving.pop(self._address, None)

    def _wait(self, seconds: float) -> None:
        """End the connection after that time, unless this is called again; 0 for never."""
        if self._timer is not None and self._timer.active():
            self._timer.cancel()
        self._timer = self.callLater(seconds, self._on_time) if seconds else None

    def _on_time(self) -> None:
        received = self.requests[-1].received_bytes if self._has_header and self.requests else 0
        if not self._is_idle and received - self._seen_bytes >= BODY_PROGRESS_BYTES:
            self._seen_bytes = received
            self._wait(settings.REQUEST_BODY_TIMEOUT_S)
            return
        if not self._is_idle:
            self.transport.write(_TOO_SLOW)
        # Closes when what was written is out, and cuts off a peer that does not take it.
        self.timeoutConnection()

    def _end(self) -> None:
        self._leave()
        self.transport.abortConnection()


def limit_slow_requests() -> None:
    """Have every Daphne server of this process limit its connections."""
    http_protocol.HTTPFactory.protocol = LimitedChannel
