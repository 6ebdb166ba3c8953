"""The broker of the embedded server: kombu's in memory, whose consumers are woken by a message.

kombu's own looks into its queues a hundred times a second, which keeps an idle server busy and
lets each message wait for the next look.
"""

from __future__ import annotations

import threading
import time
from queue import Empty
from typing import Any

from kombu.transport import memory


class _Arrivals:
    """Counts messages, so that none is missed that comes between a look and the wait after it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.count = 0

    def add(self) -> None:
        with self._changed:
            self.count += 1
            self._changed.notify_all()

    def wait(self, seen: int, timeout_s: float | None) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self.count != seen, timeout_s)


_arrivals = _Arrivals()


class Channel(memory.Channel):
    """Tells waiting consumers of what it is given."""

    def _put(self, queue: str, message: Any, **more: Any) -> None:
        super()._put(queue, message, **more)
        _arrivals.add()

    def _put_fanout(
        self, exchange: str, message: Any, routing_key: str | None = None, **more: Any
    ) -> None:
        super()._put_fanout(exchange, message, routing_key, **more)
        _arrivals.add()


class Transport(memory.Transport):
    """Waits where kombu's looks again and again."""

    Channel = Channel

    def drain_events(self, connection: Any, timeout: float | None = None, **more: Any) -> None:
        """Deliver one message, as soon as there is one.

        Raises: TimeoutError when there was none for `timeout` seconds.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            seen = _arrivals.count
            try:
                assert self.cycle is not None
                self.cycle.get(self._deliver, timeout=timeout)
            except Empty:
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0:
                    raise TimeoutError from None
                _arrivals.wait(seen, left)
            else:
                return
