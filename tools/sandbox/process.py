"""One child process: its output, its time limit and its certain end."""

from __future__ import annotations

import asyncio
import contextlib
import time
from asyncio.subprocess import Process
from collections.abc import Awaitable, Callable

from tools.sandbox.base import Exit, OnOutput

_CHUNK_BYTES = 65_536
# After the kill only what is left in the pipe is read; this ends that if a process got away with
# the pipe.
_DRAIN_S = 5.0


async def follow(
    process: Process,
    *,
    timeout_s: float | None,
    on_output: OnOutput,
    end: Callable[[], Awaitable[None]],
) -> Exit:
    """Pass output on until the process ends. `end` must kill its whole tree and wait for that.

    Returns: the exit, after `end` has run, because a finished command may leave processes behind.
    Raises: asyncio.CancelledError and what `on_output` raises, also after `end`.
    """
    started = time.monotonic()
    timed_out = False
    pump = asyncio.create_task(_pump(process, on_output))
    try:
        try:
            async with asyncio.timeout(timeout_s):
                await _ended(process, pump)
        except TimeoutError:
            timed_out = True
        finally:
            await _to_the_end(end())
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(pump, _DRAIN_S)
    finally:
        pump.cancel()
    code = await process.wait()
    if code < 0:
        code = 128 - code
    return Exit(
        code=None if timed_out else code,
        timed_out=timed_out,
        duration_s=time.monotonic() - started,
    )


async def _pump(process: Process, on_output: OnOutput) -> None:
    if process.stdout is None:
        raise RuntimeError("the process was started without a pipe for its output")
    while chunk := await process.stdout.read(_CHUNK_BYTES):
        await on_output(chunk)


async def _ended(process: Process, pump: asyncio.Task[None]) -> None:
    waiter = asyncio.create_task(process.wait())
    try:
        await asyncio.wait({pump, waiter}, return_when=asyncio.FIRST_COMPLETED)
        if pump.done():
            # A consumer that failed would leave the process blocked on a full pipe.
            pump.result()
        await waiter
    finally:
        waiter.cancel()


async def _to_the_end(ending: Awaitable[None]) -> None:
    # A second cancel must not cut the kill short; it is raised when the kill is done.
    task = asyncio.ensure_future(ending)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as exc:
            cancelled = exc
    task.result()
    if cancelled is not None:
        raise cancelled
