from __future__ import annotations

import asyncio
import secrets
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.tools.sandbox.conftest import Run
from tools.sandbox.base import Command, Sandbox, SandboxError
from tools.sandbox.select import select_sandbox


def marked_processes(mark: str) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


async def until_marked(mark: str) -> None:
    async with asyncio.timeout(25):
        while not marked_processes(mark):
            await asyncio.sleep(0.01)


async def ignore(chunk: bytes) -> None:
    del chunk


async def test_it_runs_a_command_and_returns_its_output_and_code(run: Run) -> None:
    ended, output = await run("echo out; echo err >&2; exit 7")
    assert ended.code == 7
    assert not ended.timed_out
    assert output == "out\nerr\n"


async def test_the_code_of_a_signal_is_that_of_a_shell(run: Run) -> None:
    ended, _ = await run("kill -9 $$")
    assert ended.code == 137


async def test_the_worktree_is_writable_at_its_own_path(run: Run, worktree: Path) -> None:
    ended, output = await run("pwd; echo hello > made.txt")
    assert ended.code == 0
    assert output.strip() == str(worktree)
    assert (worktree / "made.txt").read_text() == "hello\n"


async def test_nothing_of_the_servers_environment_is_visible(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVER_SECRET", "s3cret-value")
    _, output = await run("env; cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n'")
    assert "HOME=/agent" in output
    assert "SERVER_SECRET" not in output
    assert "s3cret-value" not in output


async def test_given_variables_are_for_the_inside_only(
    sandbox: Sandbox, worktree: Path, tmp_path: Path
) -> None:
    output = bytearray()

    async def take(chunk: bytes) -> None:
        output.extend(chunk)

    # The loader of a program that starts outside would write there.
    trace = {"LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": str(tmp_path / "trace")}
    env = {**trace, "TOKEN": "s3cret\nvalue=x", "LONG": "x" * 100_000}
    text = 'unset LD_DEBUG; echo "$TOKEN"; echo ${#LONG}; tr "\\0" "\\n" </proc/1/environ'
    await sandbox.run(Command(("bash", "-c", text), worktree, 20, env), on_output=take)
    assert output.decode().splitlines() == ["s3cret", "value=x", "100000"]
    assert list(tmp_path.glob("trace*")) == []


async def test_a_variable_adds_no_option(sandbox: Sandbox, worktree: Path) -> None:
    env = {"X": "x\0--bind\0/\0/host"}
    with pytest.raises(SandboxError, match="NUL"):
        await sandbox.run(Command(("true",), worktree, 20, env), on_output=ignore)


async def test_other_folders_are_absent(run: Run, tmp_path: Path, session_dir: Path) -> None:
    other = tmp_path / "other-project"
    other.mkdir()
    (other / "key.txt").write_text("private")
    _, output = await run(
        f"cat {other}/key.txt; ls {tmp_path}; ls {session_dir}; ls -A {Path.home()}; ls /var /srv"
    )
    assert "private" not in output
    assert "other-project\n" not in output
    assert f"ls: cannot access '{session_dir}'" in output
    assert "ls: cannot access '/var'" in output


async def test_secrets_of_etc_are_absent_and_the_user_has_a_name(run: Run) -> None:
    _, output = await run("id -un; cat /etc/shadow /etc/hostname; ls /etc/ssl; wc -l </etc/passwd")
    assert output.splitlines()[0] == "agent"
    assert "cat: /etc/shadow: No such file" in output
    assert "private" not in output
    assert output.splitlines()[-1] == "2"


async def test_the_system_is_read_only(run: Run) -> None:
    ended, output = await run("touch /usr/x || touch /etc/x || touch /bin/x")
    assert ended.code != 0
    assert output.count("Read-only file system") + output.count("Permission denied") >= 2


async def test_settings_of_the_kernel_are_read_only(run: Run) -> None:
    _, output = await run(
        "cat /proc/sys/vm/swappiness > value; cat value > /proc/sys/vm/swappiness;"
        "find /proc -writable -not -path '/proc/[0-9]*' -not -path '/proc/*self*'"
        " -not -path '/proc/pressure/*' -type f"
    )
    assert "Read-only file system" in output
    assert [line for line in output.splitlines() if line.startswith("/proc/")] == []


async def test_the_network_is_off_even_to_loopback(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        ended, output = await run(f"exec 3<>/dev/tcp/127.0.0.1/{port}")
    assert ended.code != 0
    assert "Connection refused" in output


async def test_a_command_cannot_ask_for_network_that_the_sandbox_does_not_have(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        ended, _ = await run(f"exec 3<>/dev/tcp/127.0.0.1/{port}", network=True)
    assert ended.code != 0


async def test_network_is_shared_when_the_policy_opens_it(
    worktree: Path, session_dir: Path
) -> None:
    sandbox = select_sandbox(worktree=worktree, session_dir=session_dir, network=True)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        argv = ("bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{port}")
        opened = await sandbox.run(Command(argv, worktree, 20, network=True), on_output=ignore)
        closed = await sandbox.run(Command(argv, worktree, 20, network=False), on_output=ignore)
    assert opened.code == 0
    assert closed.code != 0


async def test_it_has_its_own_processes_only(run: Run) -> None:
    _, output = await run("cat /proc/[0-9]*/comm 2>/dev/null")
    names = output.split()
    assert names[0] == "bwrap"
    assert set(names) <= {"bwrap", "bash", "cat"}
    assert len(names) <= 4


async def test_it_cannot_signal_a_process_outside(run: Run) -> None:
    victim = subprocess.Popen(["sleep", "30"])
    try:
        ended, _ = await run(f"kill -9 {victim.pid}")
        assert ended.code != 0
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()


async def test_it_has_no_capabilities_and_no_new_user_namespaces(run: Run) -> None:
    _, output = await run("grep CapEff /proc/self/status; unshare -U true && echo nested")
    assert "CapEff:\t0000000000000000" in output
    assert "nested" not in output


async def test_home_lasts_and_core_dumps_are_off(run: Run) -> None:
    await run("echo kept > ~/note")
    _, output = await run("cat ~/note; ulimit -c; ulimit -f; cat /proc/self/oom_score_adj")
    lines = output.splitlines()
    assert lines[0] == "kept"
    assert lines[1] == "0"
    assert lines[2].isdigit()
    assert lines[3] == "500"


async def test_git_works_in_the_worktree(run: Run, worktree: Path) -> None:
    ended, output = await run(
        "git init -q . && echo a > a && git add a && git commit -qm first && git log --format=%s"
    )
    assert ended.code == 0, output
    assert output.strip() == "first"
    assert (worktree / ".git" / "HEAD").is_file()


async def test_python_of_the_host_runs(run: Run) -> None:
    ended, output = await run("python3 -c 'import sys, ssl, json; print(sys.version_info[0])'")
    assert ended.code == 0, output
    assert output.strip() == "3"


async def test_both_names_of_python_resolve_where_the_host_has_them(run: Run) -> None:
    base = Path(sys.base_prefix)
    names = [name for name in ("python", "python3") if (base / "bin" / name).exists()]
    ended, output = await run(" && ".join(f"command -v {name}" for name in names))
    assert ended.code == 0, output


async def test_the_servers_virtual_environment_is_absent(run: Run) -> None:
    _, output = await run(f"ls {sys.prefix}")
    assert "cannot access" in output


async def test_a_time_out_kills_a_detached_grandchild(run: Run) -> None:
    mark = f"mark-{secrets.token_hex(8)}"
    started = time.monotonic()
    ended, output = await run(
        f"setsid nohup bash -c 'sleep 60; : {mark}' >/dev/null 2>&1 & echo begun; sleep 60",
        timeout_s=2,
    )
    assert ended.timed_out
    assert ended.code is None
    assert output == "begun\n"
    assert time.monotonic() - started < 25
    assert marked_processes(mark) == []


async def test_a_cancel_kills_a_detached_grandchild(sandbox: Sandbox, worktree: Path) -> None:
    mark = f"mark-{secrets.token_hex(8)}"
    begun = asyncio.Event()

    async def take(chunk: bytes) -> None:
        if b"begun" in chunk:
            begun.set()

    detached = f"setsid nohup bash -c 'sleep 60; : {mark}' >/dev/null 2>&1 &"
    text = f"{detached} sleep 0.2; echo begun; sleep 60"
    task = asyncio.create_task(
        sandbox.run(Command(("bash", "-c", text), worktree, 60), on_output=take)
    )
    await asyncio.wait_for(begun.wait(), 25)
    assert marked_processes(mark)
    started = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - started < 25
    assert marked_processes(mark) == []


async def test_a_cancel_at_any_moment_of_the_start_leaves_nothing(
    sandbox: Sandbox, worktree: Path
) -> None:
    mark = f"mark-{secrets.token_hex(8)}"
    for step in range(12):
        command = Command(("bash", "-c", f"sleep 60; : {mark}"), worktree, 60)
        task = asyncio.create_task(sandbox.run(command, on_output=ignore))
        await asyncio.sleep(step * 0.002)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    async with asyncio.timeout(25):
        while marked_processes(mark):
            await asyncio.sleep(0.01)


async def test_a_finished_command_leaves_no_background_process(run: Run) -> None:
    mark = f"mark-{secrets.token_hex(8)}"
    ended, output = await run(f"setsid bash -c 'sleep 60; : {mark}' & sleep 0.1; echo done")
    assert ended.code == 0
    assert output == "done\n"
    assert marked_processes(mark) == []


async def test_a_failing_consumer_ends_the_command(sandbox: Sandbox, worktree: Path) -> None:
    async def fail(chunk: bytes) -> None:
        raise ValueError("disk full")

    started = time.monotonic()
    command = Command(("bash", "-c", "yes; sleep 60"), worktree, 60)
    with pytest.raises(ValueError, match="disk full"):
        await sandbox.run(command, on_output=fail)
    assert time.monotonic() - started < 25


async def test_it_refuses_a_working_folder_outside(sandbox: Sandbox, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="outside the project"):
        await sandbox.run(Command(("true",), tmp_path, 5), on_output=ignore)


async def test_a_link_out_of_the_worktree_leads_nowhere(
    run: Run, worktree: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("private")
    (worktree / "link").symlink_to(tmp_path / "secret.txt")
    ended, output = await run("cat link")
    assert ended.code != 0
    assert "private" not in output


async def test_no_descriptors_are_left_open(run: Run) -> None:
    await run("true")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        await run("true")
    assert len(list(Path("/proc/self/fd").iterdir())) <= before
