"""One child process: its output, its time limit and its certain end."""

from __future__ import annotations

import asyncio
import contextlib
import time
from asyncio.subprocess import Process
from collections.abc import Callable, Coroutine
from typing import TypeVar

from tools.sandbox.base import Exit, OnOutput

_CHUNK_BYTES = 65_536
# After the kill only what is left in the pipe is read; this ends that if a process got away with
# the pipe.
_DRAIN_S = 5.0

_Result = TypeVar("_Result")


async def follow(
    start: Coroutine[None, None, Process],
    *,
    timeout_s: float | None,
    on_output: OnOutput,
    end: Callable[[Process], Coroutine[None, None, None]],
) -> Exit:
    """Start a process and pass its output on until it ends.

    `end` must kill its whole tree and wait for that. It runs however this ends: also a command that
    finished by itself may leave processes behind.

    Raises: what `start` raises; asyncio.CancelledError and what `on_output` raises, after `end`.
    """
    started = time.monotonic()
    # Half a start cannot be cancelled: the process would be there, and nobody would know it.
    process, cancelled = await _finish(start)
    timed_out = False
    pump = asyncio.create_task(_pump(process, on_output))
    try:
        try:
            if cancelled is not None:
                raise cancelled
            async with asyncio.timeout(timeout_s):
                await _ended(process, pump)
        except TimeoutError:
            timed_out = True
        except BaseException:
            # Nobody wants the rest, but asyncio reports the end of a process only after its pipes
            # have been read to theirs.
            pump.cancel()
            pump = asyncio.create_task(_discard(process, after=pump))
            raise
        finally:
            _, cancelled = await _finish(end(process))
        if cancelled is not None:
            raise cancelled
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


async def _discard(process: Process, *, after: asyncio.Task[None]) -> None:
    # A stream has one reader at a time.
    await asyncio.wait({after})
    if not after.cancelled():
        after.exception()
    while process.stdout is not None and await process.stdout.read(_CHUNK_BYTES):
        pass


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


async def _finish(
    work: Coroutine[None, None, _Result],
) -> tuple[_Result, asyncio.CancelledError | None]:
    """Do the work to its end, also through cancels.

    Returns: its result, and the cancel that came meanwhile, which the caller must raise.
    """
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as exc:
            cancelled = exc
    if cancelled is not None and (failure := task.exception()):
        raise cancelled from failure
    return task.result(), cancelled
