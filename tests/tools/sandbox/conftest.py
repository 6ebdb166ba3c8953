from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tools.sandbox.base import Command, Exit, Sandbox
from tools.sandbox.select import probe, select_sandbox

Run = Callable[..., Awaitable[tuple[Exit, str]]]


@pytest.fixture
def session_dir(tmp_path: Path) -> Path:
    return tmp_path / "session"


@pytest.fixture
def sandbox(worktree: Path, session_dir: Path) -> Sandbox:
    report = probe()
    assert report.ok, report.sentence
    return select_sandbox(worktree=worktree, session_dir=session_dir, network=False)


@pytest.fixture
def run(sandbox: Sandbox, worktree: Path) -> Run:
    async def run_command(
        text: str, *, timeout_s: float | None = 20, network: bool = False
    ) -> tuple[Exit, str]:
        output = bytearray()

        async def take(chunk: bytes) -> None:
            output.extend(chunk)

        command = Command(("bash", "-c", text), worktree, timeout_s, network=network)
        ended = await sandbox.run(command, on_output=take)
        return ended, output.decode("utf-8", "replace")

    return run_command
