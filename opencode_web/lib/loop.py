"""The one asyncio loop of our own in a process: drains and the sends of the bus run on it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def service_loop() -> asyncio.AbstractEventLoop:
    """The running loop, started in a daemon thread on first use."""
    global _loop
    with _lock:
        if _loop is None or _loop.is_closed():
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="service-loop", daemon=True).start()
        return _loop


def submit(coroutine: Coroutine[Any, Any, T]) -> Future[T]:
    """Start a coroutine on the service loop from any thread."""
    return asyncio.run_coroutine_threadsafe(coroutine, service_loop())
