from __future__ import annotations

import asyncio
import secrets
import time
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import FakeSandbox, FakeToolContext
from tests.tools.sandbox.test_bubblewrap import marked_processes, until_marked
from tools.context import PermissionAsk
from tools.errors import PermissionRejected, ToolError
from tools.sandbox.base import RefusingSandbox, SandboxError
from tools.sandbox.hosts import HostList, HostRules, parse_patterns
from tools.sandbox.limits import Limits
from tools.sandbox.select import select_sandbox


@pytest.fixture
def boxed(context: FakeToolContext, worktree: Path, tmp_path: Path) -> FakeToolContext:
    context.sandbox = select_sandbox(
        worktree=worktree, session_dir=tmp_path / "session", network=False
    )
    return context


async def test_a_command_runs_and_its_result_is_what_clients_read(
    boxed: FakeToolContext, worktree: Path
) -> None:
    result = await boxed.call("bash", command="echo hi > a; cat a", description="Make a file")
    assert (worktree / "a").read_text() == "hi\n"
    assert result.title == "echo hi > a; cat a"
    assert result.output == "hi"
    assert result.metadata == {
        "output": "hi\n",
        "exit": 0,
        "truncated": False,
        "description": "Make a file",
    }
    (ask,) = boxed.asks
    assert ask.permission == "bash"
    assert ask.patterns == ("echo hi > a", "cat a")
    assert ask.always == ("echo *", "cat *")
    assert ask.metadata == {"command": "echo hi > a; cat a"}


async def test_the_code_is_told_when_it_is_not_zero(boxed: FakeToolContext) -> None:
    result = await boxed.call("bash", command="echo out; exit 3")
    assert result.metadata["exit"] == 3
    assert result.output.startswith("out\n\n")
    assert "exit code 3" in result.output


async def test_a_command_is_told_what_it_was_kept_from(
    context: FakeToolContext, worktree: Path, tmp_path: Path
) -> None:
    rules = HostRules((HostList("project", parse_patterns(["a.test"])),))
    context.sandbox = select_sandbox(
        worktree=worktree, session_dir=tmp_path / "session", network=False, hosts=rules
    )
    result = await context.call("bash", command="curl -s https://b.test/secret/path; true")
    assert result.metadata["exit"] == 0
    assert "b.test:443 is not on the project's list of hosts" in result.output
    assert "under Network" in result.output
    assert "secret/path" not in result.output


async def test_a_command_over_its_limits_is_told_which(
    context: FakeToolContext, worktree: Path, tmp_path: Path
) -> None:
    context.sandbox = select_sandbox(
        worktree=worktree,
        session_dir=tmp_path / "session",
        network=False,
        limits=Limits(memory_bytes=100 * 1024 * 1024),
    )
    result = await context.call("bash", command="echo begun; tail /dev/zero")
    assert result.output.startswith("begun\n\n<shell_metadata>")
    assert "stopped because it used more than 100 MB of memory" in result.output
    assert result.metadata["exit"] == 137


async def test_nothing_printed_is_said(boxed: FakeToolContext) -> None:
    result = await boxed.call("bash", command="true")
    assert result.output == "(no output)"
    assert result.metadata["output"] == ""


async def test_it_runs_in_the_working_folder(boxed: FakeToolContext, worktree: Path) -> None:
    (worktree / "sub").mkdir()
    result = await boxed.call("bash", command="pwd", workdir="sub")
    assert result.output == f"{worktree}/sub"
    assert boxed.asks[0].metadata == {"command": "pwd", "workdir": "sub"}


@pytest.mark.parametrize(
    ("workdir", "problem"),
    [("..", "outside"), ("/etc", "outside"), ("missing", "not found"), ("file", "directory")],
)
async def test_a_bad_working_folder_is_refused_before_the_ask(
    boxed: FakeToolContext, worktree: Path, workdir: str, problem: str
) -> None:
    (worktree / "file").write_text("")
    with pytest.raises(ToolError, match=problem):
        await boxed.call("bash", command="pwd", workdir=workdir)
    assert boxed.asks == []


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "command"),
        ({"command": ""}, "empty"),
        ({"command": "  \n"}, "empty"),
        ({"command": "a\0b"}, "NUL"),
        ({"command": "x" * 132_000}, "too long"),
        ({"command": "ls", "timeout": 0}, "timeout"),
        ({"command": "ls", "timeout": 600_001}, "timeout"),
    ],
)
async def test_bad_arguments_are_refused(
    boxed: FakeToolContext, arguments: Any, problem: str
) -> None:
    with pytest.raises(ToolError, match=problem):
        await boxed.call("bash", **arguments)
    assert boxed.asks == []


async def test_a_rejected_command_is_not_run(boxed: FakeToolContext, worktree: Path) -> None:
    def reject(ask: PermissionAsk) -> None:
        raise PermissionRejected(feedback="no")

    boxed.on_ask = reject
    with pytest.raises(PermissionRejected):
        await boxed.call("bash", command="touch made")
    assert not (worktree / "made").exists()


async def test_changing_the_folder_alone_is_not_asked_for(boxed: FakeToolContext) -> None:
    await boxed.call("bash", command="cd .")
    assert boxed.asks == []


async def test_many_lines_keep_the_end_and_the_whole_in_a_file(boxed: FakeToolContext) -> None:
    result = await boxed.call("bash", command="seq 1 5000")
    assert result.metadata["truncated"] is True
    path = Path(str(result.metadata["outputPath"]))
    assert path.read_text() == "".join(f"{number}\n" for number in range(1, 5_001))
    assert str(path) in result.output
    assert result.output.endswith("\n3001\n" + "".join(f"{n}\n" for n in range(3_002, 5_001)))
    read = await boxed.call("read", filePath=str(path), offset=1, limit=1)
    assert "1: 1" in read.output


async def test_exactly_two_thousand_lines_are_whole(boxed: FakeToolContext) -> None:
    result = await boxed.call("bash", command="seq 1 2000")
    assert result.metadata["truncated"] is False
    assert "outputPath" not in result.metadata
    assert list(boxed.output_dir.iterdir()) == []


async def test_megabytes_are_bounded_everywhere(boxed: FakeToolContext) -> None:
    result = await boxed.call(
        "bash", command="head -c 5000000 /dev/zero | tr '\\0' x; echo; echo END"
    )
    assert len(result.output) < 51_200 + 500
    assert result.output.endswith("\nEND\n")
    assert len(str(result.metadata["output"])) <= 30_005
    assert str(result.metadata["output"]).startswith("...\n\n")
    assert Path(str(result.metadata["outputPath"])).stat().st_size == 5_000_005


async def test_a_flood_is_stopped_by_time_without_filling_the_disk(
    boxed: FakeToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.output_store.MAX_FILE_BYTES", 1_000_000)
    result = await boxed.call("bash", command="yes", timeout=1_000)
    assert result.metadata["exit"] is None
    assert Path(str(result.metadata["outputPath"])).stat().st_size < 1_200_000


async def test_hostile_bytes_become_text(boxed: FakeToolContext) -> None:
    result = await boxed.call("bash", command=r"printf 'a\0b\xff\xe2\x82\xac'")
    assert result.output == "a\ufffdb\ufffd€"
    assert result.metadata["output"] == result.output


async def test_output_streams_while_it_runs(boxed: FakeToolContext, worktree: Path) -> None:
    command = "echo first; until test -e go; do sleep 0.01; done; echo second"
    task = asyncio.create_task(boxed.call("bash", command=command, description="Talk"))
    async with asyncio.timeout(25):
        while len(boxed.updates) < 2:
            await asyncio.sleep(0.01)
    assert boxed.updates == [
        {"output": "", "description": "Talk"},
        {"output": "first\n", "description": "Talk"},
    ]
    (worktree / "go").touch()
    result = await task
    assert result.output == "first\nsecond"


async def test_updates_come_at_most_ten_times_a_second(boxed: FakeToolContext) -> None:
    started = time.monotonic()
    await boxed.call("bash", command="for i in $(seq 100); do echo $i; sleep 0.005; done")
    assert 2 <= len(boxed.updates) <= (time.monotonic() - started) * 10 + 2


async def test_a_failing_display_does_not_fail_the_command(boxed: FakeToolContext) -> None:
    async def fail(**kwargs: object) -> None:
        raise RuntimeError("socket gone")

    boxed.progress = fail  # type: ignore[method-assign,assignment]
    result = await boxed.call("bash", command="sleep 0.1; echo done")
    assert result.output == "done"


async def test_a_time_out_is_told_and_keeps_what_was_printed(boxed: FakeToolContext) -> None:
    mark = f"mark-{secrets.token_hex(8)}"
    result = await boxed.call(
        "bash", command=f"echo begun; setsid bash -c 'sleep 60; : {mark}' & sleep 60", timeout=2_000
    )
    assert result.metadata["exit"] is None
    assert result.output.startswith("begun\n\n")
    assert "longer than 2000 ms" in result.output
    assert marked_processes(mark) == []


async def test_a_cancel_kills_the_tree_and_passes_through(boxed: FakeToolContext) -> None:
    mark = f"mark-{secrets.token_hex(8)}"
    task = asyncio.create_task(
        boxed.call("bash", command=f"nohup setsid bash -c 'sleep 60; : {mark}' & sleep 60")
    )
    await until_marked(mark)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert marked_processes(mark) == []


async def test_a_cancel_in_a_flood_returns_at_once(boxed: FakeToolContext) -> None:
    task = asyncio.create_task(boxed.call("bash", command="yes"))
    await asyncio.sleep(0.3)
    started = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - started < 25


async def test_where_nothing_can_run_it_says_why_without_asking(context: FakeToolContext) -> None:
    context.sandbox = RefusingSandbox("Shell commands cannot run: no namespaces. Do this.")
    with pytest.raises(ToolError, match=r"no namespaces\. Do this\."):
        await context.call("bash", command="ls")
    assert context.asks == []


async def test_a_sandbox_that_fails_is_told(context: FakeToolContext) -> None:
    class Broken(FakeSandbox):
        async def run(self, *args: object, **kwargs: object) -> Any:
            raise SandboxError("no more processes")

    context.sandbox = Broken()
    with pytest.raises(ToolError, match="was not run: no more processes"):
        await context.call("bash", command="ls")


async def test_without_a_boundary_paths_outside_are_refused(context: FakeToolContext) -> None:
    sandbox = FakeSandbox(isolated=False)
    context.sandbox = sandbox
    with pytest.raises(ToolError, match="outside the project: /etc/passwd"):
        await context.call("bash", command="cat /etc/passwd")
    assert sandbox.commands == []
    await context.call("bash", command="cat inside.txt")
    assert [command.argv[-1] for command in sandbox.commands] == ["cat inside.txt"]


async def test_the_default_time_and_the_folder_reach_the_sandbox(
    context: FakeToolContext, worktree: Path
) -> None:
    sandbox = FakeSandbox(output=b"x")
    context.sandbox = sandbox
    await context.call("bash", command="ls")
    await context.call("bash", command="ls", timeout=5_000)
    assert [command.timeout_s for command in sandbox.commands] == [120, 5]
    assert sandbox.commands[0].cwd == worktree
    assert sandbox.commands[0].env == {}


async def test_an_output_that_cannot_be_kept_does_not_fail_the_command(
    boxed: FakeToolContext, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    boxed.output_dir = tmp_path / "file" / "outputs"
    result = await boxed.call("bash", command="seq 1 100000")
    assert result.metadata["exit"] == 0
    assert result.metadata["truncated"] is True
    assert "outputPath" not in result.metadata
    assert result.output.endswith("\n100000\n")
