from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from opencode_web.lib.reasons import english
from tools.sandbox.base import Command
from tools.sandbox.cgroup import CgroupError, Group, make_group
from tools.sandbox.limits import Limits
from tools.sandbox.select import select_sandbox

LIMITS = Limits(memory_bytes=300 * 1024 * 1024, processes=70)


@pytest.fixture
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # As the kernel has it: the files of a cgroup go with it.
    monkeypatch.setattr(Path, "rmdir", shutil.rmtree)
    folder = tmp_path / "cgroup"
    folder.mkdir()
    (folder / "cgroup.subtree_control").write_text("cpu memory\n")
    return folder


class Run:
    def __init__(self, parent: Path, worktree: Path, session_dir: Path) -> None:
        self.parent = parent
        self.worktree = worktree
        self.sandbox = select_sandbox(
            worktree=worktree,
            session_dir=session_dir,
            network=False,
            limits=LIMITS,
            cgroup=parent,
        )
        self.output = b""
        self.found: dict[str, str] = {}
        self.events = ""

    async def __call__(self, text: str) -> str:
        async def look(chunk: bytes) -> None:
            self.output += chunk
            for group in self.parent.glob("sandbox-*"):
                self.found = {file.name: file.read_text() for file in group.iterdir()}
                if self.events:
                    (group / "memory.events").write_text(self.events)

        command = Command(("bash", "-c", text), self.worktree, 20)
        ended = await self.sandbox.run(command, on_output=look)
        return english(ended.stopped or "")


@pytest.fixture
def run(parent: Path, worktree: Path, session_dir: Path) -> Run:
    return Run(parent, worktree, session_dir)


async def test_a_command_is_born_in_a_cgroup_with_its_limits(run: Run) -> None:
    assert await run("echo begun; sleep 0.3") == ""
    assert run.output == b"begun\n"
    assert run.found == {
        "memory.max": str(300 * 1024 * 1024),
        "memory.oom.group": "1",
        "memory.swap.max": "0",
        "pids.max": "270",
        "cgroup.procs": "0\n",
    }
    assert (run.parent / "cgroup.subtree_control").read_text() == "+pids"
    assert list(run.parent.glob("sandbox-*")) == []


async def test_what_the_kernel_ended_for_its_memory_is_said(run: Run) -> None:
    run.events = "low 0\nhigh 0\nmax 7\noom 1\noom_kill 3\n"
    assert await run("echo begun; sleep 0.3; kill -9 $$") == "used more than 300 MB of memory"


async def test_a_command_that_stayed_below_is_not_blamed(run: Run) -> None:
    run.events = "low 0\nhigh 0\nmax 7\noom 0\noom_kill 0\n"
    assert await run("echo begun; sleep 0.3; kill -9 $$") == ""


async def test_without_a_usable_cgroup_commands_run_and_the_log_says_so(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    (run.parent / "cgroup.subtree_control").unlink()
    assert await run("echo begun") == ""
    assert run.output == b"begun\n"
    assert "a command runs without a cgroup" in caplog.text


def test_a_folder_that_is_no_cgroup_is_refused_with_what_it_takes(tmp_path: Path) -> None:
    with pytest.raises(CgroupError, match="Delegate=yes"):
        make_group(tmp_path, LIMITS)
    assert list(tmp_path.iterdir()) == []


def test_a_cgroup_that_cannot_be_removed_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "busy").mkdir()
    Group(tmp_path, LIMITS).remove()
    assert "could not be removed" in caplog.text
