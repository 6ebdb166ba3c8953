"""Counters of a minute or so that all processes share where there is Redis.

They only slow callers down, so nothing waits for them and nothing fails without them: while Redis
is away, everything counts as the first. A restart of the embedded server begins at nought.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from django.core.cache import caches

from opencode_web.lib.breaker import Breaker
from opencode_web.lib.redis_library import redis_errors

logger = logging.getLogger(__name__)

_ALIAS = "counters"
_redis = Breaker(rest_s=5.0)


@dataclass(frozen=True)
class Count:
    """How many there were in this window, and how long it lasts yet."""

    number: int
    reset_s: int


def count(name: str, *, window_s: int) -> Count:
    """Count one more in the window that runs now."""
    now = time.time()
    window, past_s = divmod(now, window_s)
    reset_s = max(1, round(window_s - past_s))
    key = f"{name}.{int(window)}"
    if _redis.is_open:
        return Count(1, reset_s)
    try:
        return Count(_raise(key, window_s), reset_s)
    except redis_errors(OSError) as exc:
        _redis.trip()
        logger.warning("counters.unavailable", exc_info=exc)
        return Count(1, reset_s)


def _raise(key: str, window_s: int) -> int:
    cache = caches[_ALIAS]
    # Twice its time: the clocks of two hosts differ, and a window must not end early.
    cache.add(key, 0, timeout=2 * window_s)
    try:
        return int(cache.incr(key))
    except ValueError:  # it was thrown out between the two calls
        cache.set(key, 1, timeout=2 * window_s)
        return 1
