from __future__ import annotations

import asyncio
import secrets
import time
from pathlib import Path

import pytest

from tests.tools.sandbox.test_bubblewrap import marked_processes, until_marked
from tools.sandbox.base import Command, Exit, SandboxError
from tools.sandbox.unsafe import UnsafeSandbox


@pytest.fixture
def unsafe(session_dir: Path) -> UnsafeSandbox:
    return UnsafeSandbox(session_dir)


async def run_text(
    sandbox: UnsafeSandbox, text: str, worktree: Path, *, timeout_s: float = 20
) -> tuple[Exit, str]:
    output = bytearray()

    async def take(chunk: bytes) -> None:
        output.extend(chunk)

    command = Command(("bash", "-c", text), worktree, timeout_s)
    ended = await sandbox.run(command, on_output=take)
    return ended, output.decode()


async def test_it_runs_in_a_clean_environment(
    unsafe: UnsafeSandbox, worktree: Path, session_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVER_SECRET", "s3cret-value")
    ended, output = await run_text(unsafe, "env; pwd; exit 4", worktree)
    assert ended.code == 4
    assert "SERVER_SECRET" not in output
    assert f"HOME={session_dir}/home" in output
    assert output.splitlines()[-1] == str(worktree)


async def test_it_says_that_it_is_no_boundary(unsafe: UnsafeSandbox) -> None:
    assert not unsafe.isolated
    assert unsafe.refusal is None


async def test_a_time_out_kills_detached_grandchildren(
    unsafe: UnsafeSandbox, worktree: Path
) -> None:
    mark = f"mark-{secrets.token_hex(8)}"
    text = f"setsid nohup bash -c 'sleep 60; : {mark}' >/dev/null 2>&1 & trap '' TERM; sleep 60"
    ended, _ = await run_text(unsafe, text, worktree, timeout_s=0.4)
    assert ended.timed_out
    assert marked_processes(mark) == []


async def test_a_cancel_kills_detached_grandchildren(unsafe: UnsafeSandbox, worktree: Path) -> None:
    mark = f"mark-{secrets.token_hex(8)}"
    text = f"setsid bash -c 'sleep 60; : {mark}' & sleep 60"
    task = asyncio.create_task(run_text(unsafe, text, worktree))
    await until_marked(mark)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert marked_processes(mark) == []


async def test_a_background_process_does_not_hold_a_finished_command(
    unsafe: UnsafeSandbox, worktree: Path
) -> None:
    started = time.monotonic()
    mark = f"mark-{secrets.token_hex(8)}"
    _, output = await run_text(unsafe, f"setsid bash -c 'sleep 60; : {mark}' & echo done", worktree)
    assert output == "done\n"
    assert time.monotonic() - started < 25
    assert marked_processes(mark) == []


async def test_a_process_that_got_away_does_not_hold_the_call(
    unsafe: UnsafeSandbox, worktree: Path
) -> None:
    started = time.monotonic()
    ended, output = await run_text(
        unsafe, "env -i setsid sleep 30 & echo done; sleep 0.2", worktree
    )
    assert ended.code == 0
    assert output == "done\n"
    assert time.monotonic() - started < 25


async def test_a_missing_program_is_an_error(unsafe: UnsafeSandbox, worktree: Path) -> None:
    async def ignore(chunk: bytes) -> None:
        del chunk

    with pytest.raises(SandboxError, match="could not be started"):
        await unsafe.run(Command(("no-such-program",), worktree, 5), on_output=ignore)
