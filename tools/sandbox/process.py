"""One child process: its output, its time limit and its certain end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from asyncio.subprocess import Process
from collections.abc import Callable, Coroutine, Iterator
from typing import TypeVar

from tools.sandbox.base import Exit, OnOutput

_CHUNK_BYTES = 65_536
# After the kill only what is left in the pipe is read; this ends that if a process got away with
# the pipe.
_DRAIN_S = 2.0

_Result = TypeVar("_Result")


async def follow(
    start: Callable[[int], Coroutine[None, None, Process]],
    *,
    timeout_s: float | None,
    on_output: OnOutput,
    end: Callable[[Process], Coroutine[None, None, None]],
) -> Exit:
    """Start a process and pass its output on until it ends.

    `start` gets the descriptor to give the process as stdout and stderr. `end` must kill its whole
    tree and wait for that; it runs however this ends, because a command that finished by itself may
    leave processes behind.

    Raises: what `start` raises; asyncio.CancelledError and what `on_output` raises, after `end`.
    """
    # A pipe of our own: asyncio's would report the end of the process only when every process that
    # has inherited the pipe has closed it.
    output, given = os.pipe()
    try:
        os.set_blocking(output, False)
        try:
            # Half a start cannot be cancelled: the process would be there, and nobody would know.
            process, cancelled = await finish(start(given))
        finally:
            os.close(given)
        return await _follow(process, output, timeout_s, on_output, end, cancelled)
    finally:
        os.close(output)


def kill_group(process: Process) -> None:
    """Kill a process that leads a session of its own, with what it has started in its group.

    bubblewrap killed alone in its first milliseconds leaves its child behind, which waits for ever:
    measured, 111 of 250. Later the child has asked to die with its parent.
    """
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def standard_input(data: bytes) -> Iterator[int]:
    """Give a descriptor from which a process reads `data`; without any, it finds the end at once.

    The bytes lie in memory that belongs to nobody's folder, so nothing has to be fed or cleaned up.
    """
    if not data:
        yield asyncio.subprocess.DEVNULL
        return
    fd = os.memfd_create("stdin")
    try:
        with os.fdopen(os.dup(fd), "wb") as file:
            file.write(data)
        os.lseek(fd, 0, os.SEEK_SET)
        yield fd
    finally:
        os.close(fd)


async def readable(fd: int) -> None:
    """Wait until a descriptor can be read; a pidfd can when its process has ended."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(fd, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(fd)


async def writable(fd: int) -> None:
    """Wait until a descriptor can be written to, or nobody reads the other side any more."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_writer(fd, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_writer(fd)


async def _follow(
    process: Process,
    output: int,
    timeout_s: float | None,
    on_output: OnOutput,
    end: Callable[[Process], Coroutine[None, None, None]],
    cancelled: asyncio.CancelledError | None,
) -> Exit:
    started = time.monotonic()
    timed_out = False
    pump = asyncio.create_task(_pump(output, on_output))
    try:
        try:
            if cancelled is not None:
                raise cancelled
            async with asyncio.timeout(timeout_s):
                await _ended(process, pump)
        except TimeoutError:
            timed_out = True
        finally:
            _, cancelled = await finish(end(process))
        if cancelled is not None:
            raise cancelled
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(pump, _DRAIN_S)
    finally:
        pump.cancel()
        # It reads from a descriptor that is closed next.
        await asyncio.wait({pump})
    code = await process.wait()
    if code < 0:
        code = 128 - code
    return Exit(
        code=None if timed_out else code,
        timed_out=timed_out,
        duration_s=time.monotonic() - started,
    )


async def _pump(output: int, on_output: OnOutput) -> None:
    while True:
        try:
            chunk = os.read(output, _CHUNK_BYTES)
        except BlockingIOError:
            await readable(output)
            continue
        if not chunk:
            return
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


async def finish(
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
