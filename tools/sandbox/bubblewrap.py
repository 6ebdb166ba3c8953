"""Commands in their own namespaces: files, processes, network, users. The boundary."""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
from asyncio.subprocess import Process
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from tools.redaction import NO_SECRETS, Redactor
from tools.sandbox.base import Command, Exit, OnOutput, SandboxError
from tools.sandbox.cgroup import Group, open_group
from tools.sandbox.entrance import (
    NO_INTERPRETER,
    Entrance,
    find_interpreter,
    open_entrance,
    proxy_environment,
)
from tools.sandbox.environment import SYSTEM_PATH, build_environment
from tools.sandbox.hosts import HostRules
from tools.sandbox.limits import Limits, exceeded, shell_limits
from tools.sandbox.mounts import (
    HOME,
    Layout,
    interpreter_prefix,
    mount_arguments,
    prepare_session_dir,
)
from tools.sandbox.process import follow, standard_input
from tools.sandbox.redacted import RedactedOutput
from tools.sandbox.seccomp import build_filter
from tools.sandbox.status import Status, end_namespace, kill_namespace
from tools.sandbox.trees import add_tree
from tools.sandbox.watchdog import Watchdog

_SETUP_MESSAGE_BYTES = 500
# A terminal only becomes the controlling one of a session, with Ctrl+C and jobs, when the leader of
# that session opens it; bubblewrap shows it under this name. The leader is pid 1, so the shell
# stays that: it reaps orphans, and the kernel spares it the signals that Ctrl+C sends to all.
_ON_TERMINAL = 'exec <>/dev/console >&0 2>&0; {limits}; "$@"; exit $?'
_PLAIN = '{limits}; exec "$@"'


@dataclass(frozen=True)
class Bubblewrap:
    """The program and what it can do, as probed.

    `nested_off`: it knows --disable-userns, and --size. `filtered`: the kernel takes a filter for
    system calls.
    """

    program: Path
    nested_off: bool
    filtered: bool = True

    def options(
        self, layout: Layout, *, network: bool, tmpfs_bytes: int | None = None
    ) -> list[str]:
        """Build the options that say what the sandbox is made of, but for the filter."""
        options = ["--unshare-user", "--unshare-all"]
        if network:
            options.append("--share-net")
        options += ["--die-with-parent", "--new-session", "--hostname", "sandbox"]
        options += ["--cap-drop", "ALL"]
        if self.nested_off:
            options.append("--disable-userns")
        if os.getuid() == 0:
            options += ["--uid", "1000", "--gid", "1000"]
        size = tmpfs_bytes if self.nested_off else None
        options += mount_arguments(layout, network=network, tmpfs_bytes=size)
        return options

    @property
    def filter(self) -> bytes | None:
        """The filter for system calls; None where there is none."""
        return build_filter(platform.machine()) if self.filtered else None

    @contextlib.contextmanager
    def call(self, options: list[str], argv: Sequence[str]) -> Iterator[Call]:
        """Say how to start bubblewrap, filter included, and hold what it reads while it starts."""
        with contextlib.ExitStack() as held:
            fds = []
            if program := self.filter:
                fds.append(held.enter_context(_given(program)))
                options = [*options, "--seccomp", str(fds[0])]
            # On the command line they would be long, and readable for everybody on the host.
            fds.append(held.enter_context(_given(_joined(options))))
            yield Call((str(self.program), "--args", str(fds[-1]), "--", *argv), tuple(fds))


@dataclass(frozen=True)
class Call:
    """Arguments of one start of bubblewrap, and the descriptors that it must inherit."""

    argv: tuple[str, ...]
    fds: tuple[int, ...]


@dataclass(frozen=True)
class BubblewrapSandbox:
    """Runs each command of a session in a new set of namespaces over the session's layout.

    With `network` a command shares the host's network, loopback services included; without, `hosts`
    are what it reaches through a proxy, if anything. `cgroup` is one in which cgroups for commands
    can be made. The secrets of `redactor` are in every command's environment, and in no output.
    """

    bubblewrap: Bubblewrap
    layout: Layout
    network: bool
    limits: Limits = field(default_factory=Limits)
    cgroup: Path | None = None
    hosts: HostRules | None = None
    redactor: Redactor = NO_SECRETS
    name: str = "bubblewrap"
    isolated: bool = True

    @property
    def refusal(self) -> str | None:
        return None

    async def run(self, command: Command, *, on_output: OnOutput) -> Exit:
        """Run a command. Its process namespace is gone when this returns or raises.

        Raises: SandboxError when the sandbox could not be set up.
        """
        await self.prepare(command)
        with Status() as status:
            redacted = RedactedOutput(self.redactor, on_output)
            output = _Recorder(redacted)
            async with (
                self.limits.places.hold(),
                open_group(self.cgroup, self.limits) as group,
                self.open_entrance(command) as entrance,
                Watchdog(self.limits, status, self.layout) as watchdog,
            ):
                result = await follow(
                    lambda output_fd: self._start(command, output_fd, status, group, entrance),
                    timeout_s=command.timeout_s,
                    on_output=output,
                    end=lambda process: end_namespace(process, status),
                )
                ended_by_kernel = group.exceeded() if group else None
            await redacted.finish()
            status.read()
            if result.code == 1 and status.exit_code is None:
                raise SandboxError(f"the sandbox could not be set up: {output.text}")
        stopped = watchdog.reason or ended_by_kernel or exceeded(result.code, self.limits)
        return replace(result, stopped=stopped, refused=self._refused(command, entrance))

    def open_entrance(self, command: Command) -> AbstractAsyncContextManager[Entrance | None]:
        """Open the way out of a command, if it has one through a proxy; see `open_entrance`."""
        wanted = command.network and not self.network
        interpreter = find_interpreter(interpreter_prefix(self.layout))
        return open_entrance(self.hosts if wanted else None, interpreter)

    def _refused(self, command: Command, entrance: Entrance | None) -> tuple[str, ...]:
        if entrance is not None:
            return tuple(map(self.redactor.text, entrance.proxy.refused))
        wanted = command.network and not self.network and self.hosts is not None
        return (NO_INTERPRETER,) if wanted else ()

    async def prepare(self, command: Command) -> None:
        """Check where a command is to run, and make the session's folders.

        Raises: SandboxError.
        """
        if not _folder(command).is_relative_to(self.layout.worktree):
            raise SandboxError(f"the working folder {command.cwd} is outside the project")
        await asyncio.to_thread(prepare_session_dir, self.layout.session_dir)

    @contextlib.contextmanager
    def call(
        self,
        command: Command,
        status: Status,
        group: Group | None,
        *,
        entrance: Entrance | None = None,
        terminal: bool = False,
    ) -> Iterator[Call]:
        """Say how to start bubblewrap for a command; see `Bubblewrap.call`."""
        network = self.network and command.network
        options = self.bubblewrap.options(
            self.layout, network=network, tmpfs_bytes=self.limits.memory_bytes
        )
        options += ["--json-status-fd", str(status.write_fd), "--chdir", str(_folder(command))]
        # Not as the environment of bubblewrap, which runs outside: LD_PRELOAD would be a way out.
        proxied = proxy_environment() if entrance else {}
        extra = {**self.redactor.lent, **proxied, **command.env}
        for name, value in self._environment(extra).items():
            options += ["--setenv", name, value]
        if terminal:
            options.append("--as-pid-1")
        script = _ON_TERMINAL if terminal else _PLAIN
        limited = script.format(limits=shell_limits(self.limits))
        way_out = entrance.argv if entrance else ()
        argv = ("/bin/sh", "-c", limited, "sh", *way_out, *command.argv)
        with self.bubblewrap.call(options, argv) as call:
            start = group.join(call.argv) if group else call.argv
            passed = (status.write_fd, *call.fds, *((entrance.fd,) if entrance else ()))
            yield Call(start, passed)

    def _environment(self, extra: Mapping[str, str]) -> dict[str, str]:
        base = interpreter_prefix(self.layout)
        path = f"{base}/bin:{SYSTEM_PATH}" if base else SYSTEM_PATH
        return build_environment(
            home=str(HOME),
            tmp="/tmp",  # noqa: S108  the sandbox's own
            path=path,
            extra=extra,
        )

    async def _start(
        self,
        command: Command,
        output: int,
        status: Status,
        group: Group | None,
        entrance: Entrance | None,
    ) -> Process:
        with standard_input(command.stdin) as stdin:
            return await self.start(
                command, status, group, stdin=stdin, output=output, entrance=entrance
            )

    async def start(
        self,
        command: Command,
        status: Status,
        group: Group | None,
        *,
        stdin: int,
        output: int,
        error: int | None = None,
        entrance: Entrance | None = None,
        terminal: bool = False,
    ) -> Process:
        """Start bubblewrap on descriptors of the caller; without `error`, `output` takes both.

        Raises: SandboxError.
        """
        with self.call(command, status, group, entrance=entrance, terminal=terminal) as call:
            try:
                process = await asyncio.create_subprocess_exec(
                    *call.argv,
                    stdin=stdin,
                    stdout=output,
                    stderr=output if error is None else error,
                    env={},
                    pass_fds=call.fds,
                    start_new_session=True,
                )
            except (OSError, ValueError) as exc:
                what = "terminal" if terminal else "command"
                raise SandboxError(f"the {what} could not be started: {exc}") from exc
            finally:
                status.started()
        add_tree(process, partial(kill_namespace, process, status))
        return process


def _folder(command: Command) -> Path:
    return Path(os.path.realpath(command.cwd))


def _joined(options: list[str]) -> bytes:
    if any("\0" in option for option in options):
        # What follows it would be an option of its own.
        raise SandboxError("a path or a variable of the environment contains a NUL character")
    return b"".join(os.fsencode(option) + b"\0" for option in options)


@contextlib.contextmanager
def _given(data: bytes) -> Iterator[int]:
    """Hold data in memory for bubblewrap to read: a pipe would block on a large environment."""
    with os.fdopen(os.memfd_create("bubblewrap"), "wb") as file:
        file.write(data)
        file.flush()
        file.seek(0)
        yield file.fileno()


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
