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
from django.db import close_old_connections, connection, connections
from django.db.models import Model

from opencode_web.lib.origin import carried

P = ParamSpec("P")
T = TypeVar("T")

# Per thread: when a call last ended well.
_last = threading.local()
_GOOD_FOR_S = 1.0
# What is drawn for people who look on stands in no line behind a hundred turns that start.
VIEW_THREADS = 2
_WORK, _VIEW = "orm", "orm_view"
_executors: dict[str, ThreadPoolExecutor] = {}


def _threads_of(name: str) -> int:
    return VIEW_THREADS if name == _VIEW else int(settings.DB_THREADS)


def _get_executor(name: str) -> ThreadPoolExecutor:
    if name not in _executors:
        _executors[name] = ThreadPoolExecutor(_threads_of(name), thread_name_prefix=name)
    return _executors[name]


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
    return await _run(_WORK, partial(fn, *args, **kwargs))


async def in_view_db(fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """As `in_db`, on the threads that draw what people look at: it only reads."""
    return await _run(_VIEW, partial(fn, *args, **kwargs))


async def _run(name: str, fn: Callable[[], T]) -> T:
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_get_executor(name), carried(_call), fn)


def lock_until_commit(number: int) -> None:
    """Let one transaction at a time go on. Each purpose has a number of its own."""
    # SQLite lets in one writer anyway.
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])


def lock_table_until_commit(model: type[Model]) -> None:
    """Let nobody else write rows of a model, also new ones; reading goes on."""
    # SQLite lets in one writer anyway.
    if connection.vendor == "postgresql":
        table = connection.ops.quote_name(model._meta.db_table)
        with connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE")


def close_pool() -> None:
    """End the threads and close their connections. The next call starts new ones."""
    while _executors:
        name, executor = _executors.popitem()
        # Each task waits for all others, so that every thread takes exactly one.
        together = threading.Barrier(_threads_of(name))
        for _ in range(together.parties):
            executor.submit(_close, together)
        executor.shutdown(wait=True)


def _close(together: threading.Barrier) -> None:
    together.wait()
    connections.close_all()
