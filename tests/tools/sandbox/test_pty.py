from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tools.sandbox.test_bubblewrap import marked_processes, until_marked
from tools.sandbox.base import Command, Sandbox, SandboxError
from tools.sandbox.bubblewrap import BubblewrapSandbox
from tools.sandbox.pty import Size, Terminal, open_terminal
from tools.sandbox.stop_reasons import StopReason

NORMAL = Size()
# No other run on this machine has processes with it.
MARK = f"mark-{secrets.token_hex(8)}"
SHELL = ("bash", "--norc", "--noediting", "-i")


class Screen:
    """Reads a terminal all the time, as a browser does."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.text = ""
        self._changed = asyncio.Event()
        self.reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        while chunk := await self.terminal.read():
            self.text += chunk.decode("utf-8", "replace")
            self._changed.set()
        self._changed.set()

    async def type(self, text: str) -> None:
        await self.terminal.write(text.encode())

    async def until(self, wanted: str) -> str:
        try:
            async with asyncio.timeout(25):
                while wanted not in self.text:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError as exc:
            raise AssertionError(f"{wanted!r} is not in {self.text!r}") from exc
        seen, wanted, self.text = self.text.partition(wanted)
        return seen + wanted


Open = Callable[..., contextlib.AbstractAsyncContextManager[Screen]]


@pytest.fixture
def opened(sandbox: Sandbox, worktree: Path) -> Open:
    @contextlib.asynccontextmanager
    async def open_screen(
        *argv: str, size: Size = NORMAL, memory_mb: int = 1024
    ) -> AsyncIterator[Screen]:
        assert isinstance(sandbox, BubblewrapSandbox)
        limits = replace(sandbox.limits, memory_bytes=memory_mb * 1024 * 1024)
        command = Command(argv or SHELL, worktree, None, env={"PS1": "ready> "})
        async with open_terminal(replace(sandbox, limits=limits), command, size) as terminal:
            screen = Screen(terminal)
            try:
                yield screen
            finally:
                screen.reading.cancel()

    return open_screen


async def test_a_shell_answers_and_its_code_is_told(opened: Open) -> None:
    async with opened() as screen:
        await screen.until("ready> ")
        await screen.type("echo $((6 * 7)); pwd\r")
        seen = await screen.until("ready> ")
        assert "echo $((6 * 7)); pwd\r\n42\r\n" in seen
        await screen.type("exit 7\r")
        assert await screen.terminal.wait() == 7
        await asyncio.wait_for(screen.reading, 25)


async def test_it_is_a_terminal_with_a_size_that_changes(opened: Open, worktree: Path) -> None:
    (worktree / "watch.py").write_text(
        "import os, signal\n"
        "def say(word): c, r = os.get_terminal_size(); print(word, r, c)\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGWINCH})\n"
        "say('watching')\n"
        "signal.sigwait({signal.SIGWINCH})\n"
        "say('told')\n"
    )
    async with opened(size=Size(30, 100)) as screen:
        await screen.until("ready> ")
        await screen.type("stty size; echo $TERM; test -t 0 && test -t 2 && echo is-$((1))\r")
        seen = await screen.until("is-1")
        assert "30 100" in seen
        assert "xterm-256color" in seen
        await screen.type("python3 watch.py\r")
        await screen.until("watching 30 100")
        screen.terminal.resize(Size(50, 132))
        await screen.until("told 50 132")


async def run_sleep(screen: Screen) -> None:
    await screen.type("sh -c 'echo going; exec sleep 60'\r")
    # It can write only when it has the terminal, and so when a key is for it.
    await screen.until("going; exec")
    await screen.until("going\r\n")


async def test_control_c_ends_what_runs_and_not_the_shell(opened: Open) -> None:
    async with opened() as screen:
        await screen.until("ready> ")
        await run_sleep(screen)
        await screen.type("\x03")
        await screen.until("ready> ")
        await screen.type("echo code $?\r")
        assert "code 130" in await screen.until("ready> ")


async def test_jobs_are_stopped_and_go_on(opened: Open) -> None:
    async with opened() as screen:
        await screen.until("ready> ")
        await run_sleep(screen)
        await screen.type("\x1a")
        await screen.until("Stopped")
        await screen.until("ready> ")
        await screen.type("bg; jobs\r")
        assert "Running" in await screen.until("Running")
        await screen.type("kill %1; wait %1; echo code $?\r")
        await screen.until("code 143")


async def test_it_has_the_walls_of_a_command(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_text("canary")
    monkeypatch.setenv("SERVER_SECRET", "canary")
    async with opened() as screen:
        await screen.until("ready> ")
        await screen.type(f"cat {tmp_path}/secret; env; grep Seccomp: /proc/self/status\r")
        await screen.type("ls -d /proc/[0-9]* | wc -l; ls /dev/pts; tty; echo do''ne\r")
        seen = await screen.until("done")
        assert "canary" not in seen
        assert "Seccomp:\t2" in seen


async def test_nothing_can_be_typed_for_others(opened: Open, worktree: Path) -> None:
    (worktree / "sti.py").write_text(
        "import fcntl\n"
        "try:\n    fcntl.ioctl(0, 0x5412, b'x'); print('typed')\n"
        "except OSError as exc:\n    print('errno', exc.errno)\n"
    )
    async with opened() as screen:
        await screen.until("ready> ")
        await screen.type("python3 sti.py\r")
        assert "errno 1" in await screen.until("errno 1")


async def test_leaving_ends_the_whole_tree(opened: Open) -> None:
    async with opened() as screen:
        await screen.until("ready> ")
        await screen.type(f"setsid nohup bash -c 'sleep 60; : pty-{MARK}' >/dev/null 2>&1 &\r")
        await screen.type("echo beg''un\r")
        await screen.until("begun")
        await until_marked(f"pty-{MARK}")
    assert marked_processes(f"pty-{MARK}") == []


async def test_it_can_be_ended_while_it_ignores_everything(opened: Open) -> None:
    async with opened("bash", "-c", "trap '' INT TERM HUP QUIT; echo deaf; sleep 60") as screen:
        await screen.until("deaf")
        await asyncio.wait_for(screen.terminal.end(), 3)
        assert await screen.terminal.wait() == 137
        await asyncio.wait_for(screen.reading, 25)
        await screen.type("into nothing")
        await screen.terminal.end()


async def test_a_shell_that_ends_takes_its_background_with_it(opened: Open) -> None:
    async with opened() as screen:
        await screen.until("ready> ")
        await screen.type(f"(setsid bash -c 'sleep 60; : gone-{MARK}' &) ; exit\r")
        await asyncio.wait_for(screen.terminal.wait(), 25)
        assert marked_processes(f"gone-{MARK}") == []


async def test_its_memory_is_limited(opened: Open) -> None:
    async with opened("bash", "-c", "tail /dev/zero", memory_mb=100) as screen:
        assert await asyncio.wait_for(screen.terminal.wait(), 25) == 137
        assert screen.terminal.stopped == StopReason.MEMORY.over_bytes(100 << 20)


async def test_a_large_paste_arrives_whole(opened: Open, worktree: Path) -> None:
    async with opened("bash", "-c", "stty raw -echo; echo go; head -c 300000 > pasted") as screen:
        await screen.until("go")
        await asyncio.wait_for(screen.type("0123456789" * 30_000), 25)
        assert await asyncio.wait_for(screen.terminal.wait(), 25) == 0
    assert (worktree / "pasted").read_bytes() == b"0123456789" * 30_000


async def test_no_descriptor_and_no_process_stays(opened: Open) -> None:
    async with opened("true") as screen:
        await screen.terminal.wait()
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        async with opened("bash", "-c", f"sleep 60; : stays-{MARK}"):
            pass
    assert len(list(Path("/proc/self/fd").iterdir())) <= before
    assert marked_processes(f"stays-{MARK}") == []


async def test_a_cancel_at_any_moment_leaves_nothing(opened: Open) -> None:
    async def use() -> None:
        async with opened("bash", "-c", f"sleep 60; : cancel-{MARK}") as screen:
            await screen.terminal.wait()

    for step in range(8):
        task = asyncio.create_task(use())
        await asyncio.sleep(step * 0.004)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert marked_processes(f"cancel-{MARK}") == []


async def test_a_folder_outside_is_refused(sandbox: Sandbox, tmp_path: Path) -> None:
    assert isinstance(sandbox, BubblewrapSandbox)
    with pytest.raises(SandboxError, match="outside"):
        async with open_terminal(sandbox, Command(SHELL, tmp_path, None), Size()):
            pass


def test_its_number_is_that_of_a_process(opened: Open) -> None:
    async def look() -> None:
        async with opened() as screen:
            os.kill(screen.terminal.pid, 0)

    asyncio.run(look())
