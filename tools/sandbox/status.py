"""What bubblewrap tells about itself while it runs, and the certain end of its processes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import signal
from asyncio.subprocess import Process

from tools.sandbox.process import kill_group, readable

_START_S = 2.0


class Status:
    """The pipe on which bubblewrap tells the process that is pid 1 inside, and the exit code."""

    def __init__(self) -> None:
        self._read_fd, self.write_fd = os.pipe()
        os.set_blocking(self._read_fd, False)
        self._loop = asyncio.get_running_loop()
        self._buffer = b""
        self._known = asyncio.Event()
        self._watched = False
        self.pid: int | None = None
        self.pidfd: int | None = None
        self.exit_code: int | None = None

    def __enter__(self) -> Status:
        return self

    def __exit__(self, *exc: object) -> None:
        self._unwatch()
        for fd in (self._read_fd, self.write_fd, self.pidfd):
            if fd is not None and fd >= 0:
                os.close(fd)
        self.pidfd = None

    def started(self) -> None:
        """Close our copy of the writing end, so that the pipe ends with bubblewrap."""
        os.close(self.write_fd)
        self.write_fd = -1
        self._loop.add_reader(self._read_fd, self.read)
        self._watched = True

    def read(self) -> None:
        """Take in what has been written so far."""
        try:
            while chunk := os.read(self._read_fd, 4_096):
                self._buffer += chunk
                self._parse()
        except BlockingIOError:
            return
        self._unwatch()
        self._known.set()

    async def wait_known(self) -> None:
        """Wait until pid 1 of the sandbox is known or bubblewrap is gone."""
        await self._known.wait()

    @property
    def alive(self) -> bool:
        """Whether pid 1 of the sandbox lives: only then its number is surely its own."""
        if self.pidfd is None:
            return False
        poll = select.poll()
        poll.register(self.pidfd, select.POLLIN)
        return not poll.poll(0)

    def kill(self) -> None:
        """Kill pid 1 of the sandbox, and with it every process inside."""
        if self.pidfd is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def _parse(self) -> None:
        *lines, self._buffer = self._buffer.split(b"\n")
        for line in lines:
            report = json.loads(line)
            if "child-pid" in report:
                self.pid = report["child-pid"]
                with contextlib.suppress(ProcessLookupError):
                    self.pidfd = os.pidfd_open(report["child-pid"])
                self._known.set()
            if "exit-code" in report:
                self.exit_code = report["exit-code"]

    def _unwatch(self) -> None:
        if self._watched:
            self._loop.remove_reader(self._read_fd)
            self._watched = False


def kill_namespace(process: Process, status: Status) -> None:
    """Kill the process namespace and wait for nothing: whoever follows the process ends it."""
    if status.alive:
        status.kill()
    else:
        kill_group(process)


async def end_namespace(process: Process, status: Status) -> None:
    """Kill the process namespace and wait until it is gone.

    Pid 1 of the sandbox is killed and not bubblewrap: the kernel reports pid 1 dead only after
    every other process in the namespace, however it detached itself, is dead.
    """
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(status.wait_known(), _START_S)
    if status.pidfd is None:
        kill_group(process)
    else:
        status.kill()
        await readable(status.pidfd)
    await process.wait()
