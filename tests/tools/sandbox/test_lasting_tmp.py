from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.sandbox.base import Command
from tools.sandbox.select import select_sandbox


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(dir="/var/tmp"))
    yield folder
    shutil.rmtree(folder)


async def test_tmp_lasts_for_the_session_when_the_worktree_is_not_below_it(
    elsewhere: Path,
) -> None:
    (elsewhere / "project").mkdir()
    output = bytearray()

    async def take(chunk: bytes) -> None:
        output.extend(chunk)

    def run(session: str, text: str) -> object:
        sandbox = select_sandbox(
            worktree=elsewhere / "project", session_dir=elsewhere / session, network=False
        )
        return sandbox.run(Command(("bash", "-c", text), elsewhere / "project", 20), on_output=take)

    await run("one", "echo kept > /tmp/note")  # type: ignore[misc]
    await run("one", "cat /tmp/note; pwd")  # type: ignore[misc]
    await run("two", "cat /tmp/note")  # type: ignore[misc]
    lines = output.decode().splitlines()
    assert lines[:2] == ["kept", f"{elsewhere}/project"]
    assert "No such file" in lines[2]
