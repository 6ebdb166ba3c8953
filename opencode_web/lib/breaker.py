"""Leave a service that does not answer alone for a moment: not every caller is to wait for it."""

from __future__ import annotations

import time


class Breaker:
    """Closed at first. Threads may share one."""

    def __init__(self, rest_s: float) -> None:
        self._rest_s = rest_s
        self._until = 0.0

    @property
    def is_open(self) -> bool:
        """Whether the service is not to be asked now."""
        return time.monotonic() < self._until

    def trip(self) -> None:
        """The service has not answered."""
        self._until = time.monotonic() + self._rest_s
