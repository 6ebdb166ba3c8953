"""A program that is spoken to over pipes for as long as it is of use, in the sandbox."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from dataclasses import replace

from opencode_web.lib.reasons import english
from tools.redaction import NO_SECRETS
from tools.sandbox.base import Command
from tools.sandbox.bubblewrap import BubblewrapSandbox
from tools.sandbox.long_running import Program, Streams, run_program
from tools.sandbox.process import readable, writable

_CHUNK_BYTES = 65_536
_COMPLAINT_BYTES = 2_000
# Between two looks at errors, so that many of them cost little.
_PAUSE_S = 0.01
# What it leaves behind may hold the pipe open.
_LAST_WORDS_S = 2.0


class Service:
    """A running program and the pipes to it. One reader and one writer at a time."""

    def __init__(self, program: Program, stdin: int, stdout: int) -> None:
        self._program = program
        self._stdin = stdin
        self._stdout = stdout
        self._complaint = b""
        self._errors: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        """See `Program.pid`."""
        return self._program.pid

    @property
    def stopped(self) -> str:
        """See `Program.stopped`: in words for models, empty for none."""
        return english(self._program.stopped or "")

    async def last_words(self) -> str:
        """Get the last line of what it has written as errors, once it has ended."""
        if self._errors is not None:
            await asyncio.wait({self._errors}, timeout=_LAST_WORDS_S)
        lines = self._complaint.decode("utf-8", "replace").strip().splitlines()
        return lines[-1][-300:] if lines else ""

    async def read(self) -> bytes:
        """Wait for output. Returns: b"" when it says nothing more."""
        return await _read(self._stdout)

    async def write(self, data: bytes) -> bool:
        """Send. Waits while it does not read. Returns: False when it has ended."""
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._stdin, view[:_CHUNK_BYTES]) :]
            except BlockingIOError:
                await writable(self._stdin)
            except OSError:
                return False
        return True

    @contextlib.asynccontextmanager
    async def collecting(self, stderr: int) -> AsyncIterator[None]:
        """Read what it writes as errors, and keep the end."""
        self._errors = asyncio.create_task(self._collect(stderr))
        try:
            yield
        finally:
            self._errors.cancel()
            # It reads from a descriptor that is closed next.
            await asyncio.wait({self._errors})

    async def _collect(self, stderr: int) -> None:
        while chunk := await _read(stderr):
            self._complaint = (self._complaint + chunk)[-_COMPLAINT_BYTES:]
            await asyncio.sleep(_PAUSE_S)


@contextlib.asynccontextmanager
async def open_service(sandbox: BubblewrapSandbox, command: Command) -> AsyncIterator[Service]:
    """Start a program on pipes; it is gone with all it started when the block is left.

    It has no secrets: nothing stands behind what it says.

    Raises: SandboxError.
    """
    sandbox = replace(sandbox, redactor=NO_SECRETS)
    await sandbox.prepare(command)
    with contextlib.ExitStack() as ours:
        (theirs_in, stdin), (stdout, theirs_out), (stderr, theirs_err) = (
            os.pipe(),
            os.pipe(),
            os.pipe(),
        )
        for fd in (stdin, stdout, stderr):
            ours.callback(os.close, fd)
            os.set_blocking(fd, False)
        streams = Streams(theirs_in, theirs_out, theirs_err)
        async with run_program(sandbox, command, streams) as program:
            service = Service(program, stdin, stdout)
            async with service.collecting(stderr):
                yield service


async def _read(fd: int) -> bytes:
    while True:
        try:
            chunk = os.read(fd, _CHUNK_BYTES)
        except BlockingIOError:
            await readable(fd)
        else:
            # One that never stops writing must not keep the loop from everybody else.
            await asyncio.sleep(0)
            return chunk
