"""Ends a command that uses too much of the host.

Limits of the kernel's own bind single processes, and root not at all. So while a command runs, its
processes are looked at from outside, through the /proc of its own process namespace, which lists
them and nobody else's, however they detached themselves.

What no process has mapped and no file system holds (System V segments, full pipes) is not counted;
there the kernel ends the command before the server, by its `oom_score_adj`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from opencode_web.lib.reasons import Cause
from tools.sandbox.limits import MARGIN, Limits
from tools.sandbox.mounts import Layout
from tools.sandbox.process_cap import cap_processes, caps_processes
from tools.sandbox.status import Status
from tools.sandbox.stop_reasons import StopReason
from tools.sandbox.usage import Meter, Usage

# Most commands have ended by then and cost nothing.
_FIRST_LOOK_S = 0.3
# Setting the kernel's limit costs 5 ms of a processor, and a bomb has some dozen processes by then.
_CAP_AFTER_S = 0.02
_LONGEST_S = 0.5
_SHORTEST_S = 0.05
# What a process can touch in a second, so looks get closer together as the limit comes near.
_BYTES_PER_S = 4 * 1024**3
# Measuring folders may take long: it starts late, and takes a twentieth of the time at most.
_FIRST_DISK_LOOK_S = 2.0
_DISK_SHARE = 20
# Less than this is not what filled a disk.
_NOTABLE_BYTES = 32 * 1024 * 1024

_Result = TypeVar("_Result")
_BLOCK_BYTES = 512


class Watchdog:
    """Watches one sandbox. `reason` says afterwards what it was ended for."""

    def __init__(self, limits: Limits, status: Status, layout: Layout) -> None:
        self.reason: Cause | None = None
        self._limits = limits
        self._status = status
        self._session_dir = layout.session_dir
        self._meter = Meter(layout.in_memory)
        self._disks = {path: _free_bytes(path) for path in (layout.worktree, layout.session_dir)}
        self._home_bytes: int | None = None
        self._stopping = False
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Watchdog:
        self._tasks = [
            asyncio.create_task(self._watch_processes()),
            asyncio.create_task(self._watch_home()),
            asyncio.create_task(self._cap_processes()),
        ]
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._stopping = True
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        for task in self._tasks:
            if not task.cancelled():
                task.result()

    async def _cap_processes(self) -> None:
        await self._status.wait_known()
        await asyncio.sleep(_CAP_AFTER_S)
        if os.getuid() == 0:
            await _in_thread(self._bound_numbers)

    async def _watch_processes(self) -> None:
        await asyncio.sleep(_FIRST_LOOK_S)
        while True:
            usage = await _in_thread(self._look)
            # Twice: memory that processes share may have been counted while some of them ended.
            if usage is not None and self._judge(usage):
                usage = await _in_thread(self._look)
            if usage is not None and (reason := self._judge(usage) or self._judge_disks()):
                self._end(reason)
                return
            used = usage.memory_bytes if usage else 0
            left_s = (self._limits.memory_bytes - used) / _BYTES_PER_S
            await asyncio.sleep(min(max(left_s, _SHORTEST_S), _LONGEST_S))

    async def _watch_home(self) -> None:
        pause_s = _FIRST_DISK_LOOK_S
        while True:
            await asyncio.sleep(pause_s)
            started = time.monotonic()
            if reason := await _in_thread(self._judge_home):
                self._end(reason)
                return
            pause_s = max(_FIRST_DISK_LOOK_S, _DISK_SHARE * (time.monotonic() - started))

    def _bound_numbers(self) -> None:
        if caps_processes():
            cap_processes(self._status, self._limits.processes + MARGIN)

    def _look(self) -> Usage | None:
        if self._status.pid is None:
            return None
        limits = self._limits
        return self._meter.measure(
            self._status.pid, suspicious_bytes=limits.memory_bytes, most=limits.processes
        )

    def _judge(self, usage: Usage) -> Cause | None:
        limits = self._limits
        if usage.processes > limits.processes:
            return StopReason.PROCESSES.over(limits.processes)
        if limits.cpu_s is not None and usage.cpu_s > limits.cpu_s:
            return StopReason.PROCESSOR.over(limits.cpu_s)
        if usage.memory_bytes > limits.memory_bytes:
            return StopReason.MEMORY.over_bytes(limits.memory_bytes)
        return None

    def _judge_disks(self) -> Cause | None:
        for path, at_start in self._disks.items():
            free = _free_bytes(path)
            # A command that makes room on a full disk goes on.
            if free < self._limits.free_disk_bytes and free < at_start - _NOTABLE_BYTES:
                return StopReason.DISK.over_bytes(self._limits.free_disk_bytes)
        return None

    def _judge_home(self) -> Cause | None:
        before = self._home_bytes
        folders = [self._session_dir / name for name in ("home", "tmp")]
        now = measure_disk(folders, stop=lambda: self._stopping)
        self._home_bytes = now
        # Only one that makes it worse: else nothing could ever be cleared away.
        if now > self._limits.home_bytes and before is not None and now > before:
            return StopReason.HOME.over_bytes(self._limits.home_bytes)
        return None

    def _end(self, reason: Cause) -> None:
        # Its number could be another's by now, and so could what was measured.
        if self._status.alive:
            self.reason = self.reason or reason
            self._status.kill()


async def _in_thread(look: Callable[[], _Result]) -> _Result:
    """Do it in a thread, and be cancelled only when the thread is done with it."""
    looking = asyncio.ensure_future(asyncio.to_thread(look))
    try:
        return await asyncio.shield(looking)
    except asyncio.CancelledError:
        await asyncio.wait({looking})
        raise


def _free_bytes(path: Path) -> int:
    try:
        state = os.statvfs(path)
    except OSError:
        # Deleted or unmounted meanwhile: nothing is written there any more.
        return sys.maxsize
    return state.f_bavail * state.f_frsize


def measure_disk(folders: Iterable[Path], *, stop: Callable[[], bool]) -> int:
    """Add up what folders take on the disk, following no link. Ends early when `stop` says so.

    Files may come and go meanwhile. Units: bytes on the disk; a file with two names counts twice.
    """
    total = 0
    stack = [os.fspath(folder) for folder in folders]
    while stack and not stop():
        try:
            with os.scandir(stack.pop()) as entries:
                for entry in entries:
                    # One that is gone since it was listed is no reason to pass over the rest.
                    with contextlib.suppress(FileNotFoundError):
                        total += entry.stat(follow_symlinks=False).st_blocks * _BLOCK_BYTES
                    if entry.is_dir(follow_symlinks=False):
                        stack.append(entry.path)
        except OSError:
            # Gone meanwhile, or closed to the server by its owner; what is elsewhere counts.
            continue
    return total
