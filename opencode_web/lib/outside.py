"""Threads for what waits for somebody else's server, so that no page waits behind it.

A vendor may be silent for most of a minute, and whoever chooses its host may want it to be. What
asks it runs on threads of its own, and a person waits for two answers at most: many more people
than one are needed to hold up even those who ask vendors themselves.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import lru_cache, partial
from typing import Any, ParamSpec, TypeVar

from django.db import connections
from django.utils.translation import gettext as _

from opencode_web.lib.errors import TooManyRequests

P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V", bound=Callable[..., Any])  # Any: a view, with whatever its address gives it

# Each has a database connection while it works, and none afterwards.
THREADS = 24
PER_PERSON = 2
# How long one silent question takes; then there is room for the next.
_RETRY_S = 15

_asked: Counter[int] = Counter()
_lock = threading.Lock()


def waits_outside(view: V) -> V:
    """Mark a synchronous view that asks another server, for `PageHandler`."""
    view.waits_outside = True  # type: ignore[attr-defined]  # read by `is_outside` alone
    return view


def is_outside(view: object) -> bool:
    """Whether a view asks another server. Decorators hand the mark on, as `wraps` does."""
    return getattr(view, "waits_outside", False) is True


@contextmanager
def asking(person_id: int) -> Iterator[None]:
    """Count a question to another server while the block waits for its answer.

    Raises: TooManyRequests when the person waits for as many as one may.
    """
    with _lock:
        if _asked[person_id] >= PER_PERSON:
            raise TooManyRequests(
                _("Earlier requests are still running. Try again in a moment."),
                retryAfter=_RETRY_S,
            )
        _asked[person_id] += 1
    try:
        yield
    finally:
        with _lock:
            _asked[person_id] -= 1
            if not _asked[person_id]:
                del _asked[person_id]


async def run_outside(fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run synchronous code that asks another server."""
    work = partial(copy_context().run, _run, partial(fn, *args, **kwargs))
    return await asyncio.get_running_loop().run_in_executor(_pool(), work)


def _run(fn: Callable[[], T]) -> T:
    try:
        return fn()
    finally:
        connections.close_all()


@lru_cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="outside")
