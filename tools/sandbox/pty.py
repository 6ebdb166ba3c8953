"""A program on a terminal of its own, inside the walls that commands have."""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import termios
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

from opencode_web.lib.reasons import Cause
from tools.redaction import Redactor
from tools.sandbox.base import Command
from tools.sandbox.bubblewrap import BubblewrapSandbox
from tools.sandbox.inner_network import InnerNetwork
from tools.sandbox.long_running import Program, Streams, run_program
from tools.sandbox.process import readable, writable

TERM = "xterm-256color"
_CHUNK_BYTES = 65_536
# So much of what may become a secret is shown at once: who types waits for no echo.
_EAGER_BYTES = 2


@dataclass(frozen=True)
class Size:
    """Of a terminal, in characters."""

    rows: int = 24
    columns: int = 80


class Terminal:
    """A running program and its terminal. One reader and one writer at a time."""

    def __init__(
        self, master: int, program: Program, redactor: Redactor, network: InnerNetwork
    ) -> None:
        self.network = network
        self._master = master
        self._program = program
        self._clean = redactor.stream(eager=_EAGER_BYTES)

    @property
    def pid(self) -> int:
        """See `Program.pid`."""
        return self._program.pid

    @property
    def stopped(self) -> Cause | None:
        """See `Program.stopped`."""
        return self._program.stopped

    async def read(self) -> bytes:
        """Wait for output. Returns: b"" when the program has closed the terminal."""
        while data := await self._read():
            if shown := self._clean.feed(data):
                return shown
        return self._clean.finish()

    async def _read(self) -> bytes:
        while True:
            try:
                return os.read(self._master, _CHUNK_BYTES)
            except BlockingIOError:
                await readable(self._master)
            except OSError:
                # EIO: nobody has the other side open any more.
                return b""

    async def write(self, data: bytes) -> None:
        """Type. Waits while the program does not read; does nothing when it has ended."""
        while data:
            try:
                data = data[os.write(self._master, data) :]
            except BlockingIOError:
                await writable(self._master)
            except OSError:
                return

    def resize(self, size: Size) -> None:
        """Change the size; the program in the foreground is told by SIGWINCH."""
        _set_size(self._master, size)

    async def wait(self) -> int:
        """See `Program.wait`."""
        return await self._program.wait()

    async def end(self) -> None:
        """See `Program.end`."""
        await self._program.end()


@contextlib.asynccontextmanager
async def open_terminal(
    sandbox: BubblewrapSandbox, command: Command, size: Size
) -> AsyncIterator[Terminal]:
    """Start a program on a new terminal; it is gone with all it started when the block is left.

    It has the limits of commands but for processor time, as people leave terminals open.

    Raises: SandboxError.
    """
    await sandbox.prepare(command)
    command = replace(command, env={"TERM": TERM, **command.env})
    master, slave = os.openpty()
    try:
        os.set_blocking(master, False)
        _set_size(master, size)
        async with (
            run_program(sandbox, command, Streams(slave, slave, terminal=True)) as program,
            contextlib.aclosing(InnerNetwork(program.status)) as network,
        ):
            yield Terminal(master, program, sandbox.redactor, network)
    finally:
        os.close(master)


def _set_size(master: int, size: Size) -> None:
    packed = struct.pack("HHHH", size.rows, size.columns, 0, 0)
    fcntl.ioctl(master, termios.TIOCSWINSZ, packed)
