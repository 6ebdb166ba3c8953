"""The one bridge from asynchronous code to the ORM.

`sync_to_async` would run every database call of the process on a single thread (measured: 860
calls/s at most). This pool has a few threads of our own that keep their connections.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import close_old_connections, connections

P = ParamSpec("P")
T = TypeVar("T")

# Per thread: when a call last ended well.
_last = threading.local()
_GOOD_FOR_S = 1.0
_executor: ThreadPoolExecutor | None = None


def _get_executor() -> ThreadPoolExecutor:
    global _executor
    if _executor is None:
        _executor = ThreadPoolExecutor(settings.DB_THREADS, thread_name_prefix="orm")
    return _executor


def _call(fn: Callable[[], T]) -> T:
    # A connection that worked a moment ago is good; after a pause or a fault it is looked at.
    if time.monotonic() - getattr(_last, "success", 0.0) > _GOOD_FOR_S:
        close_old_connections()
    _last.success = 0.0
    result = fn()
    _last.success = time.monotonic()
    return result


async def in_db(fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a synchronous ORM function on the pool. It must not outlive its own transaction."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_get_executor(), _call, partial(fn, *args, **kwargs))


def close_pool() -> None:
    """End the pool and close its connections. The next `in_db` starts a new one."""
    global _executor
    if _executor is None:
        return
    executor, _executor = _executor, None
    # Each task waits for all others, so that every thread takes exactly one.
    together = threading.Barrier(settings.DB_THREADS)

    def close() -> None:
        together.wait()
        connections.close_all()

    for _ in range(settings.DB_THREADS):
        executor.submit(close)
    executor.shutdown(wait=True)
