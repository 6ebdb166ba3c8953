from __future__ import annotations

import asyncio
import contextlib
import errno
import shutil
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from pytest_django import Settings

from sessions.git.box import Box, BoxedGitError
from tools.sandbox.select import probe


def processes_with(mark: str) -> list[int]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("MARK") == mark:
                found.append(process.pid)
    return found


async def test_a_stop_at_any_moment_leaves_no_process_behind(tmp_path: Path) -> None:
    box = Box(write=(tmp_path,))
    environment = {"PATH": "/usr/bin:/bin", "MARK": str(tmp_path)}
    await box.run("version", environment=environment, limit_bytes=100, timeout_s=20)
    large = bytes(20_000_000)
    for tenth_ms in range(10, 130, 5):
        asking = asyncio.create_task(
            box.run(
                "hash-object",
                "--stdin",
                environment=environment,
                given=large,
                limit_bytes=100,
                timeout_s=20,
            )
        )
        await asyncio.sleep(tenth_ms / 10_000)
        asking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asking
    assert processes_with(str(tmp_path)) == []


async def said_inside(tmp_path: Path, shell: str) -> str:
    """What a program says that git starts in the box, as an alias can."""
    output = await Box(write=(tmp_path,)).run(
        *("-c", f"alias.x=!{shell}", "x"),
        environment={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path)},
        limit_bytes=10_000,
        timeout_s=60,
    )
    return output.data.decode()


async def test_programs_that_git_starts_are_under_the_kernels_limits(
    tmp_path: Path, settings: Settings
) -> None:
    settings.SANDBOX_MEMORY_MB = 512
    settings.SANDBOX_FILE_MB = 3
    said = await said_inside(tmp_path, "ulimit -c; ulimit -d; ulimit -f")
    assert said.split() == ["0", str(512 * 1024), str(3 * 2048)]
    with pytest.raises(BoxedGitError):
        await said_inside(tmp_path, f"head -c 4000000 /dev/zero > {tmp_path}/large")
    assert (tmp_path / "large").stat().st_size == 3 * 1024 * 1024


@pytest.mark.skipif(not shutil.which("perl"), reason="no perl on this host")
async def test_programs_that_git_starts_meet_the_filter_for_system_calls(tmp_path: Path) -> None:
    # AF_VSOCK, which would reach the hypervisor; and a family that git may use.
    attempt = "perl -MSocket -e 'for (40, AF_UNIX) { print socket(my $s, $_, SOCK_STREAM, 0) "
    said = await said_inside(tmp_path, attempt + '? "made " : 0 + $! . " " }\'')
    assert said.split() == [str(errno.EAFNOSUPPORT), "made"]


async def test_where_nothing_can_filter_git_still_runs_boxed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = probe()
    assert report.bubblewrap is not None
    unfiltered = replace(report, bubblewrap=replace(report.bubblewrap, filtered=False))
    monkeypatch.setattr("sessions.git.box.probe", lambda: unfiltered)
    assert await said_inside(tmp_path, "echo runs; ls /home 2>&1 || true") != ""
