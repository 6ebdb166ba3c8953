"""Run git over a worktree that a sandboxed command could have written, without trusting any of it.

A nested repository brings its own config, which names programs that git starts in it. So git runs
as the agent's commands do: in bubblewrap, with the worktree read-only, no network, and nothing of
the server but the shadow git dir. Where bubblewrap does not work, git does not run either.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from tools.sandbox.bubblewrap import Bubblewrap
from tools.sandbox.mounts import Layout
from tools.sandbox.select import probe

TIMEOUT_S = 60
_MAX_ERROR_BYTES = 4_096
_CHUNK_BYTES = 65_536
_SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
# In the environment and not as arguments: a child of git gets them too.
_CONFIG = {
    "core.autocrlf": "false",
    "core.quotepath": "false",
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "diff.ignoreSubmodules": "all",
    "gc.auto": "0",
    "index.version": "4",
    "protocol.allow": "never",
    "submodule.recurse": "false",
}
# Over whatever the worktree's .gitattributes say: bytes are kept as they are.
ATTRIBUTES = "* !diff !filter -text !eol !crlf -ident !working-tree-encoding\n"


class ShadowGitError(Exception):
    """git could not do it; the message says why, for the log."""


class ShadowGitOff(ShadowGitError):
    """git must not run over this worktree, today or tomorrow."""


@dataclass(frozen=True)
class Output:
    """What git said. `whole` is False when it was cut off at the limit."""

    data: bytes
    whole: bool


@dataclass(frozen=True)
class ShadowGit:
    """git for one worktree, with the git dir and the index file it is to use."""

    worktree: Path
    git_dir: Path
    index: Path

    async def run(self, *arguments: str, given: bytes = b"", limit_bytes: int) -> Output:
        """Run `git` once, with `given` as its input.

        Returns: at most `limit_bytes` of its output; git is ended when there is more.
        Raises: ShadowGitError; ShadowGitOff.
        """
        prefix = await asyncio.to_thread(self._prefix)
        place = ["-C", str(self.git_dir)]
        # `git init` takes its place as an argument, and must not come near the worktree's `.git`.
        if arguments[0] != "init":
            place = ["-C", str(self.worktree), f"--git-dir={self.git_dir}", "--work-tree=."]
        try:
            async with _started([*prefix, "git", *place, *arguments], self._environment()) as git:
                async with asyncio.timeout(TIMEOUT_S):
                    return await _converse(git, given, limit_bytes)
        except TimeoutError as exc:
            raise ShadowGitError(f"git took over {TIMEOUT_S} s") from exc
        except OSError as exc:
            raise ShadowGitError(f"git could not be started: {exc}") from exc

    def _prefix(self) -> list[str]:
        report = probe()
        if report.bubblewrap is None:
            if settings.UNSAFE_SANDBOX:
                # The operator's choice: commands have all the rights of the server here anyway.
                return []
            raise ShadowGitOff(report.reason)
        hidden = (settings.DATA_DIR, settings.BASE_DIR)
        layout = Layout(worktree=self.worktree, session_dir=self.git_dir, hidden=hidden)
        if problem := layout.problem():
            raise ShadowGitOff(problem)
        return [*_bubblewrap(report.bubblewrap, layout), "--"]

    def _environment(self) -> dict[str, str]:
        numbered = dict(enumerate(_CONFIG.items()))
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LC_ALL": "C.UTF-8",
            "HOME": str(self.git_dir),
            "GIT_INDEX_FILE": str(self.index),
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


def _bubblewrap(bubblewrap: Bubblewrap, layout: Layout) -> Iterator[str]:
    # Fewer mounts than a command gets: git needs no /etc, no /proc and no /tmp.
    yield from (str(bubblewrap.program), "--unshare-user", "--unshare-all", "--die-with-parent")
    yield from ("--new-session", "--cap-drop", "ALL")
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
    for place in layout.secret:
        if place.is_dir() and place.is_relative_to("/usr"):
            yield from ("--tmpfs", str(place))
    yield from ("--ro-bind", str(layout.worktree), str(layout.worktree))
    yield from ("--bind", str(layout.session_dir), str(layout.session_dir))
    yield from ("--remount-ro", "/", "--chdir", "/")


@asynccontextmanager
async def _started(
    arguments: list[str], environment: dict[str, str]
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start a process that is surely dead, with all that it started, when the block is left."""
    process = await asyncio.create_subprocess_exec(
        *arguments,
        env=environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        # Its output ends with the last process that holds it, which is git inside the sandbox.
        await asyncio.shield(asyncio.ensure_future(_bury(process)))


async def _bury(process: asyncio.subprocess.Process) -> None:
    assert process.stdout is not None
    while await process.stdout.read(_CHUNK_BYTES):
        pass
    await process.wait()


async def _converse(process: asyncio.subprocess.Process, given: bytes, limit_bytes: int) -> Output:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    feeding = asyncio.create_task(_feed(process.stdin, given))
    complaint = asyncio.create_task(_read_start(process.stderr, _MAX_ERROR_BYTES))
    try:
        output = await _read(process.stdout, limit_bytes)
        if output.whole:
            await feeding
            error = (await complaint).decode("utf-8", "replace").strip()
            if await process.wait():
                raise ShadowGitError(error[-500:] or f"git ended with {process.returncode}")
        return output
    finally:
        for task in (feeding, complaint):
            task.cancel()
        await asyncio.wait({feeding, complaint})


async def _feed(stdin: asyncio.StreamWriter, given: bytes) -> None:
    try:
        stdin.write(given)
        await stdin.drain()
        stdin.close()
        await stdin.wait_closed()
    except (BrokenPipeError, ConnectionResetError):
        return  # it ended first; its exit code and its complaint tell


async def _read(stream: asyncio.StreamReader, limit_bytes: int) -> Output:
    data = bytearray()
    while chunk := await stream.read(_CHUNK_BYTES):
        data += chunk
        if len(data) > limit_bytes:
            return Output(bytes(data[:limit_bytes]), whole=False)
    return Output(bytes(data), whole=True)


async def _read_start(stream: asyncio.StreamReader, limit_bytes: int) -> bytes:
    """Read to the end, so that nothing blocks on a full pipe, but keep the start only."""
    data = b""
    while chunk := await stream.read(_CHUNK_BYTES):
        data += chunk[: max(0, limit_bytes - len(data))]
    return data
