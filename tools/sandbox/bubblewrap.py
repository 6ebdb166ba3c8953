"""Commands in their own namespaces: files, processes, network, users. The boundary."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from asyncio.subprocess import Process
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.sandbox.base import Command, Exit, OnOutput, SandboxError
from tools.sandbox.environment import SYSTEM_PATH, build_environment
from tools.sandbox.mounts import (
    HOME,
    Layout,
    interpreter_prefix,
    mount_arguments,
    prepare_session_dir,
)
from tools.sandbox.process import follow, readable

# Blocks of 512 bytes: 4 GiB for one file.
_MAX_FILE_BLOCKS = 8_388_608
# Per user and not per sandbox on kernels before 5.14, so it leaves room for the server's own
# threads. The kernel does not apply it to root, which is one reason not to run workers as root.
_MAX_PROCESSES = 4_096
# dash spells the process limit -p. The score makes the kernel kill a command before it kills the
# server.
_LIMITS = (
    f"ulimit -c 0; ulimit -f {_MAX_FILE_BLOCKS}; "
    f"ulimit -u {_MAX_PROCESSES} 2>/dev/null || ulimit -p {_MAX_PROCESSES} 2>/dev/null; "
    'echo 500 2>/dev/null >/proc/self/oom_score_adj; exec "$@"'
)
_SETUP_MESSAGE_BYTES = 500
_START_S = 2.0


@dataclass(frozen=True)
class Bubblewrap:
    """The program and what it can do, as probed. `nested_off`: it knows --disable-userns."""

    program: Path
    nested_off: bool

    def options(self, layout: Layout, *, network: bool) -> list[str]:
        """Build the options that say what the sandbox is made of."""
        options = ["--unshare-user", "--unshare-all"]
        if network:
            options.append("--share-net")
        options += ["--die-with-parent", "--new-session", "--hostname", "sandbox"]
        options += ["--cap-drop", "ALL"]
        if self.nested_off:
            options.append("--disable-userns")
        if os.getuid() == 0:
            options += ["--uid", "1000", "--gid", "1000"]
        options += mount_arguments(layout, network=network)
        return options


@dataclass(frozen=True)
class BubblewrapSandbox:
    """Runs each command of a session in a new set of namespaces over the session's layout.

    With `network` a command shares the host's network, loopback services included.
    """

    bubblewrap: Bubblewrap
    layout: Layout
    network: bool
    name: str = "bubblewrap"
    isolated: bool = True

    @property
    def refusal(self) -> str | None:
        return None

    async def run(self, command: Command, *, on_output: OnOutput) -> Exit:
        """Run a command. Its process namespace is gone when this returns or raises.

        Raises: SandboxError when the sandbox could not be set up.
        """
        cwd = Path(os.path.realpath(command.cwd))
        if not cwd.is_relative_to(self.layout.worktree):
            raise SandboxError(f"the working folder {command.cwd} is outside the project")
        await asyncio.to_thread(prepare_session_dir, self.layout.session_dir)
        with _Status() as status:
            output = _Recorder(on_output)
            result = await follow(
                lambda output_fd: self._start(command, cwd=cwd, output=output_fd, status=status),
                timeout_s=command.timeout_s,
                on_output=output,
                end=lambda process: _end(process, status),
            )
            status.read()
            if result.code == 1 and status.exit_code is None:
                raise SandboxError(f"the sandbox could not be set up: {output.text}")
        return result

    async def _start(self, command: Command, *, cwd: Path, output: int, status: _Status) -> Process:
        options = self.bubblewrap.options(self.layout, network=self.network and command.network)
        options += ["--json-status-fd", str(status.write_fd), "--chdir", str(cwd)]
        with _given(options) as options_fd:
            try:
                return await asyncio.create_subprocess_exec(
                    str(self.bubblewrap.program),
                    *("--args", str(options_fd), "--", "/bin/sh", "-c", _LIMITS, "sh"),
                    *command.argv,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    # The whole environment of bubblewrap and of the command: nothing is inherited,
                    # and nothing shows in the process list of the host.
                    env=self._environment(command.env),
                    pass_fds=(status.write_fd, options_fd),
                    start_new_session=True,
                )
            except (OSError, ValueError) as exc:
                raise SandboxError(f"the command could not be started: {exc}") from exc
            finally:
                status.started()

    def _environment(self, extra: Mapping[str, str]) -> dict[str, str]:
        base = interpreter_prefix(self.layout)
        path = f"{base}/bin:{SYSTEM_PATH}" if base else SYSTEM_PATH
        return build_environment(
            home=str(HOME),
            tmp="/tmp",  # noqa: S108  the sandbox's own
            path=path,
            extra=extra,
        )


@contextlib.contextmanager
def _given(options: list[str]) -> Iterator[int]:
    """Write options to a pipe: on the command line they would be long, and readable inside."""
    read_fd, write_fd = os.pipe()
    try:
        try:
            # A few KiB; a pipe takes 64 without a reader.
            os.write(write_fd, b"".join(os.fsencode(option) + b"\0" for option in options))
        finally:
            os.close(write_fd)
        yield read_fd
    finally:
        os.close(read_fd)


class _Recorder:
    """Keeps the start of the output, where bubblewrap says what it could not do."""

    def __init__(self, on_output: OnOutput) -> None:
        self._on_output = on_output
        self._head = b""

    async def __call__(self, chunk: bytes) -> None:
        if len(self._head) < _SETUP_MESSAGE_BYTES:
            self._head += chunk[:_SETUP_MESSAGE_BYTES]
        await self._on_output(chunk)

    @property
    def text(self) -> str:
        return self._head.decode("utf-8", "replace").strip()


class _Status:
    """The pipe on which bubblewrap tells the process that is pid 1 inside, and the exit code."""

    def __init__(self) -> None:
        self._read_fd, self.write_fd = os.pipe()
        os.set_blocking(self._read_fd, False)
        self._loop = asyncio.get_running_loop()
        self._buffer = b""
        self._known = asyncio.Event()
        self._watched = False
        self.pidfd: int | None = None
        self.exit_code: int | None = None

    def __enter__(self) -> _Status:
        return self

    def __exit__(self, *exc: object) -> None:
        self._unwatch()
        for fd in (self._read_fd, self.write_fd, self.pidfd):
            if fd is not None and fd >= 0:
                os.close(fd)

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

    def _parse(self) -> None:
        *lines, self._buffer = self._buffer.split(b"\n")
        for line in lines:
            report = json.loads(line)
            if "child-pid" in report:
                with contextlib.suppress(ProcessLookupError):
                    self.pidfd = os.pidfd_open(report["child-pid"])
                self._known.set()
            if "exit-code" in report:
                self.exit_code = report["exit-code"]

    def _unwatch(self) -> None:
        if self._watched:
            self._loop.remove_reader(self._read_fd)
            self._watched = False


async def _end(process: Process, status: _Status) -> None:
    """Kill the process namespace and wait until it is gone.

    Pid 1 of the sandbox is killed and not bubblewrap: the kernel reports pid 1 dead only after
    every other process in the namespace, however it detached itself, is dead.
    """
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(status.wait_known(), _START_S)
    if status.pidfd is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    else:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(status.pidfd, signal.SIGKILL)
        await readable(status.pidfd)
    await process.wait()
