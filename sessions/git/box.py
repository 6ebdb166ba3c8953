"""Run git over files that a sandboxed command could have written, without trusting any of them.

A repository brings its own config, which names programs that git starts in it. So git runs as the
agent's commands do: in bubblewrap, with nothing of the server but the folders it is given, no
network, the filter for system calls and the kernel's limits. Where bubblewrap does not work, git
does not run either. The watchdog of commands is not there: each call has its time, and the limits
hold for so few processes that they bound the memory too.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from opencode_web.lib.disk import ProgramError
from tools.sandbox.bubblewrap import Bubblewrap
from tools.sandbox.limits import Limits, shell_limits
from tools.sandbox.mounts import Layout
from tools.sandbox.process import finish, kill_group
from tools.sandbox.select import probe

_MAX_ERROR_BYTES = 4_096
_CHUNK_BYTES = 65_536
_MIB = 1024 * 1024
# What a program reads, as a whole or piece by piece.
Given = bytes | Iterable[bytes]
# git has a thread for each processor at the most, and a child or two.
_PROCESSES = 256
_SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
# In the environment and not as arguments: a child of git gets them too.
_CONFIG = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.quotepath": "false",
    "gc.auto": "0",
    # Below what one file may have.
    "pack.packSizeLimit": "2g",
    "protocol.allow": "never",
    "submodule.recurse": "false",
}


class BoxedGitError(ProgramError):
    """git could not do it; the message says why, for the log."""


class BoxedGitOff(BoxedGitError):
    """git must not run over these files, today or tomorrow."""


@dataclass(frozen=True)
class Output:
    """What git said. `whole` is False when it was cut off at the limit."""

    data: bytes
    whole: bool


@dataclass(frozen=True)
class Start:
    """One git to be started: what it gets, and the sandbox around it, if there is one."""

    argv: tuple[str, ...]
    bubblewrap: Bubblewrap | None = None
    options: tuple[str, ...] = ()

    @contextmanager
    def call(self) -> Iterator[tuple[tuple[str, ...], tuple[int, ...]]]:
        """Hold what it reads while it starts. Yields: its arguments, and what it inherits."""
        if self.bubblewrap is None:
            yield self.argv, ()
            return
        with self.bubblewrap.call(list(self.options), self.argv) as call:
            yield call.argv, call.fds


@dataclass(frozen=True)
class Box:
    """The folders that git sees, beside the programs of the system.

    `covers` are pairs: a file of ours, and the path in those folders that it is put over.
    """

    read: tuple[Path, ...] = ()
    write: tuple[Path, ...] = ()
    covers: tuple[tuple[Path, Path], ...] = ()

    async def run(
        self,
        *arguments: str,
        environment: Mapping[str, str],
        given: Given = b"",
        limit_bytes: int,
        timeout_s: float,
        fine: tuple[int, ...] = (0,),
    ) -> Output:
        """Run `git` once, with `given` as its input. Codes other than `fine` are failures.

        Returns: at most `limit_bytes` of its output; git is ended when there is more.
        Raises: BoxedGitError; BoxedGitOff.
        """
        start = await asyncio.to_thread(self.start, *arguments)
        try:
            async with _started(start, dict(environment)) as git:
                async with asyncio.timeout(timeout_s):
                    return await _converse(git, given, limit_bytes, fine)
        except TimeoutError as exc:
            raise BoxedGitError(f"git took over {timeout_s:.0f} s") from exc
        except OSError as exc:
            raise BoxedGitError(f"git could not be started: {exc}") from exc

    async def fields(
        self,
        *arguments: str,
        environment: Mapping[str, str],
        given: Given = b"",
        timeout_s: float,
    ) -> AsyncGenerator[list[bytes]]:
        """As `run`, for output of whatever length that is read while it is written.

        `timeout_s` is for each wait for git. Yields: what it has said up to the next NULs, and at
        last what has none behind it. Raises: BoxedGitError; BoxedGitOff.
        """
        start, rest = await asyncio.to_thread(self.start, *arguments), b""
        try:
            async with (
                _started(start, dict(environment)) as git,
                aclosing(_pieces(git, given, (0,))) as pieces,
            ):
                piece: bytes | None = b""
                while piece is not None:
                    async with asyncio.timeout(timeout_s):
                        piece = await anext(pieces, None)
                    *whole, rest = (rest + (piece or b"")).split(b"\0")
                    if whole:
                        yield whole
        except TimeoutError as exc:
            raise BoxedGitError(f"git took over {timeout_s:.0f} s") from exc
        except OSError as exc:
            raise BoxedGitError(f"git could not be started: {exc}") from exc
        if rest:
            yield [rest]

    def start(self, *arguments: str) -> Start:
        """Build how `git` is started with these arguments. Blocks. Raises: BoxedGitOff."""
        argv = ("/bin/sh", "-c", _limited(), "sh", "git", *arguments)
        report = probe()
        if report.bubblewrap is None:
            if settings.UNSAFE_SANDBOX:
                # The operator's choice: commands have all the rights of the server here anyway.
                return Start(argv)
            raise BoxedGitOff(report.reason)
        layouts = [
            Layout(worktree=folder, session_dir=settings.DATA_DIR, hidden=(settings.BASE_DIR,))
            for folder in (*self.read, *self.write)
        ]
        for layout in layouts:
            if problem := layout.problem():
                raise BoxedGitOff(problem)
        return Start(argv, report.bubblewrap, tuple(self._options(report.bubblewrap, layouts)))

    def _options(self, bubblewrap: Bubblewrap, layouts: list[Layout]) -> Iterator[str]:
        # Fewer mounts than a command gets: git needs no /etc, no /proc and no /tmp.
        yield from ("--unshare-user", "--unshare-all")
        yield from ("--die-with-parent", "--new-session", "--cap-drop", "ALL")
        if bubblewrap.nested_off:
            yield "--disable-userns"
        if os.getuid() == 0:
            yield from ("--uid", "1000", "--gid", "1000")
        yield from ("--ro-bind", "/usr", "/usr")
        for name in _SYSTEM:
            path = Path("/", name)
            if path.is_symlink():
                yield from ("--symlink", str(path.readlink()), str(path))
            elif path.is_dir():
                yield from ("--ro-bind", str(path), str(path))
        yield from ("--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache", "--dev", "/dev")
        for place in dict.fromkeys(place for layout in layouts for place in layout.secret):
            if place.is_dir() and place.is_relative_to("/usr"):
                yield from ("--tmpfs", str(place))
        for folder in self.read:
            yield from ("--ro-bind", str(folder), str(folder))
        for folder in self.write:
            yield from ("--bind", str(folder), str(folder))
        for ours, path in self.covers:
            yield from ("--ro-bind", str(ours), str(path))
        yield from ("--remount-ro", "/", "--chdir", "/")


def _limited() -> str:
    limits = Limits(
        memory_bytes=settings.SANDBOX_MEMORY_MB * _MIB,
        processes=min(_PROCESSES, settings.SANDBOX_PROCESSES),
        cpu_s=None,
        file_bytes=settings.SANDBOX_FILE_MB * _MIB,
    )
    # Of each process, as nobody watches them together.
    memory = f"ulimit -d {limits.memory_bytes // 1024} 2>/dev/null"
    return f'{shell_limits(limits)}; {memory}; exec "$@"'


def git_environment(config: Mapping[str, str], *, home: Path) -> dict[str, str]:
    """The whole environment of a git process; `config` is added to what holds for all of them."""
    numbered = dict(enumerate({**_CONFIG, **config}.items()))
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LC_ALL": "C.UTF-8",
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        # Empty: no transport at all, not for a missing object either.
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_CONFIG_COUNT": str(len(numbered)),
        **{f"GIT_CONFIG_KEY_{n}": key for n, (key, _) in numbered.items()},
        **{f"GIT_CONFIG_VALUE_{n}": value for n, (_, value) in numbered.items()},
    }


async def pipe(
    source: Start,
    target: Start,
    *,
    environments: tuple[Mapping[str, str], Mapping[str, str]],
    given: Given,
    timeout_s: float,
) -> None:
    """Run two commands, where the second reads what the first writes.

    Neither sees the files of the other. Raises: BoxedGitError.
    """
    read_fd, write_fd = os.pipe()
    try:
        async with (
            asyncio.timeout(timeout_s),
            _started(source, dict(environments[0]), stdout=write_fd) as first,
            _started(target, dict(environments[1]), stdin=read_fd) as second,
        ):
            os.close(write_fd)
            os.close(read_fd)
            read_fd = write_fd = -1
            await asyncio.gather(_converse(first, given, 0), _converse(second, b"", _CHUNK_BYTES))
    except TimeoutError as exc:
        raise BoxedGitError(f"git took over {timeout_s:.0f} s") from exc
    except OSError as exc:
        raise BoxedGitError(f"git could not be started: {exc}") from exc
    finally:
        for fd in (read_fd, write_fd):
            if fd >= 0:
                os.close(fd)


@asynccontextmanager
async def _started(
    start: Start,
    environment: dict[str, str],
    *,
    stdin: int = asyncio.subprocess.PIPE,
    stdout: int = asyncio.subprocess.PIPE,
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start a process that is surely dead, with all that it started, when the block is left."""
    with start.call() as (argv, fds):
        # Half a start cannot be cancelled: the process would be there, and nobody would know.
        process, cancelled = await finish(
            asyncio.create_subprocess_exec(
                *argv,
                env=environment,
                stdin=stdin,
                stdout=stdout,
                stderr=asyncio.subprocess.PIPE,
                pass_fds=fds,
                start_new_session=True,
            )
        )
    try:
        if cancelled is not None:
            raise cancelled
        yield process
    finally:
        if process.returncode is None:
            kill_group(process)
        # Its output ends with the last process that holds it, which is git inside the sandbox.
        await asyncio.shield(asyncio.ensure_future(_bury(process)))


async def _bury(process: asyncio.subprocess.Process) -> None:
    if process.stdin is not None:
        process.stdin.close()
    # The last that is left open by what a process started ends with it.
    for stream in (process.stdout, process.stderr):
        while stream is not None and await stream.read(_CHUNK_BYTES):
            pass
    await process.wait()


async def _converse(
    process: asyncio.subprocess.Process,
    given: Given,
    limit_bytes: int,
    fine: tuple[int, ...] = (0,),
) -> Output:
    data = bytearray()
    async with aclosing(_pieces(process, given, fine)) as pieces:
        async for piece in pieces:
            data += piece
            if len(data) > limit_bytes:
                return Output(bytes(data[:limit_bytes]), whole=False)
    return Output(bytes(data), whole=True)


async def _pieces(
    process: asyncio.subprocess.Process, given: Given, fine: tuple[int, ...]
) -> AsyncGenerator[bytes]:
    assert process.stderr is not None
    feeding = asyncio.create_task(_feed(process.stdin, given))
    complaint = asyncio.create_task(_read_start(process.stderr, _MAX_ERROR_BYTES))
    try:
        while process.stdout is not None and (piece := await process.stdout.read(_CHUNK_BYTES)):
            yield piece
        await feeding
        error = (await complaint).decode("utf-8", "replace").strip()
        if await process.wait() not in fine:
            raise BoxedGitError(error[-500:] or f"git ended with {process.returncode}")
    finally:
        for task in (feeding, complaint):
            task.cancel()
        await asyncio.wait({feeding, complaint})


async def _feed(stdin: asyncio.StreamWriter | None, given: Given) -> None:
    if stdin is None:
        return
    try:
        data = b""
        for piece in (given,) if isinstance(given, bytes) else given:
            data += piece
            if len(data) >= _CHUNK_BYTES:
                stdin.write(data)
                await stdin.drain()
                data = b""
        stdin.write(data)
        await stdin.drain()
        stdin.close()
        await stdin.wait_closed()
    except (BrokenPipeError, ConnectionResetError):
        return  # it ended first; its exit code and its complaint tell


async def _read_start(stream: asyncio.StreamReader, limit_bytes: int) -> bytes:
    """Read to the end, so that nothing blocks on a full pipe, but keep the start only."""
    data = b""
    while chunk := await stream.read(_CHUNK_BYTES):
        data += chunk[: max(0, limit_bytes - len(data))]
    return data
