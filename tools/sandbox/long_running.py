"""A program that lasts, inside the walls that commands have, and its certain end."""

from __future__ import annotations

import contextlib
import os
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

from opencode_web.lib.reasons import Cause
from tools.sandbox.base import Command
from tools.sandbox.bubblewrap import BubblewrapSandbox
from tools.sandbox.cgroup import Group, open_group
from tools.sandbox.process import finish
from tools.sandbox.status import Status, end_namespace
from tools.sandbox.watchdog import Watchdog


@dataclass(frozen=True)
class Streams:
    """Descriptors that are given to a program. `terminal`: they are one, its terminal.

    `error` is for its errors when they do not go where its output goes.
    """

    stdin: int
    output: int
    error: int | None = None
    terminal: bool = False

    def close(self) -> None:
        """Close our copies."""
        for fd in {self.stdin, self.output, self.output if self.error is None else self.error}:
            os.close(fd)


@dataclass(frozen=True)
class Program:
    """A running program."""

    process: Process
    status: Status
    watchdog: Watchdog
    group: Group | None

    @property
    def pid(self) -> int:
        """The number of the sandbox among the processes of the host."""
        return self.process.pid

    @property
    def stopped(self) -> Cause | None:
        """Which limit it was ended for: a `StopReason`."""
        return self.watchdog.reason or (self.group.exceeded() if self.group else None)

    async def wait(self) -> int:
        """Wait for the end, of everything that it has started too.

        Returns: the exit code, 128 + n after signal n.
        """
        code = await self.process.wait()
        await self.end()
        return 128 - code if code < 0 else code

    async def end(self) -> None:
        """End the program with everything it has started. Safe to repeat."""
        await end_namespace(self.process, self.status)


@contextlib.asynccontextmanager
async def run_program(
    sandbox: BubblewrapSandbox, command: Command, streams: Streams
) -> AsyncIterator[Program]:
    """Start a program; it is gone with all it started when the block is left.

    It has the limits of commands but for processor time. `streams` are closed here in any case.
    `sandbox.prepare` must have been awaited.

    Raises: SandboxError.
    """
    sandbox = replace(sandbox, limits=replace(sandbox.limits, cpu_s=None))
    with contextlib.ExitStack() as given:
        given.callback(streams.close)
        with Status() as status:
            async with (
                open_group(sandbox.cgroup, sandbox.limits) as group,
                sandbox.open_entrance(command) as entrance,
            ):
                # Half a start cannot be cancelled: nobody would know of the process.
                process, cancelled = await finish(
                    sandbox.start(
                        command,
                        status,
                        group,
                        stdin=streams.stdin,
                        output=streams.output,
                        error=streams.error,
                        entrance=entrance,
                        terminal=streams.terminal,
                    )
                )
                given.close()
                try:
                    if cancelled is not None:
                        raise cancelled
                    async with Watchdog(sandbox.limits, status, sandbox.layout) as watchdog:
                        yield Program(process, status, watchdog, group)
                finally:
                    await _end(process, status)


async def _end(process: Process, status: Status) -> None:
    """End it, also when that is cancelled meanwhile."""
    _, cancelled = await finish(end_namespace(process, status))
    if cancelled is not None:
        raise cancelled
