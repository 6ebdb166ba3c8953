"""The one bridge from asynchronous code to the ORM.

`sync_to_async` would run every database call of the process on a single thread (measured: 860
calls/s at most). This pool has a few threads of our own that keep their connections.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import close_old_connections

P = ParamSpec("P")
T = TypeVar("T")

_executor: ThreadPoolExecutor | None = None


def _get_executor() -> ThreadPoolExecutor:
    global _executor
    if _executor is None:
        _executor = ThreadPoolExecutor(settings.DB_THREADS, thread_name_prefix="orm")
    return _executor


def _call(fn: Callable[[], T]) -> T:
    close_old_connections()
    return fn()


async def in_db(fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a synchronous ORM function on the pool. It must not outlive its own transaction."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_get_executor(), _call, partial(fn, *args, **kwargs))


def run_on_all_threads(fn: Callable[[], object]) -> None:
    """Run `fn` once on every thread of the pool that has been started (to close connections)."""
    global _executor
    if _executor is not None:
        executor, _executor = _executor, None
        for _ in range(settings.DB_THREADS):
            executor.submit(fn)
        executor.shutdown(wait=True)
