from __future__ import annotations

import asyncio
import os
import resource
import secrets
import time
from dataclasses import replace
from pathlib import Path

import pytest

from opencode_web.lib.reasons import english
from tests.tools.sandbox.test_bubblewrap import marked_processes
from tools.sandbox import usage, watchdog
from tools.sandbox.base import Command, Exit
from tools.sandbox.limits import Limits, exceeded, shell_limits
from tools.sandbox.process_cap import caps_processes
from tools.sandbox.select import select_sandbox
from tools.sandbox.stop_reasons import StopReason
from tools.sandbox.usage import Meter
from tools.sandbox.watchdog import measure_disk

MIB = 1024 * 1024
SMALL = Limits(
    memory_bytes=200 * MIB, processes=60, cpu_s=60, file_bytes=20 * MIB, free_disk_bytes=0
)

BOUND_BY_KERNEL = os.getuid() != 0 or caps_processes()


class Box:
    def __init__(self, worktree: Path, session_dir: Path) -> None:
        self.worktree = worktree
        self.session_dir = session_dir
        self.output = bytearray()

    async def run(self, text: str, *, timeout_s: float = 30, limits: Limits = SMALL) -> Exit:
        sandbox = select_sandbox(
            worktree=self.worktree, session_dir=self.session_dir, network=False, limits=limits
        )
        self.output.clear()

        async def take(chunk: bytes) -> None:
            self.output.extend(chunk)

        command = Command(("bash", "-c", text), self.worktree, timeout_s)
        return await sandbox.run(command, on_output=take)


@pytest.fixture
def box(worktree: Path, session_dir: Path) -> Box:
    return Box(worktree, session_dir)


MEMORY = StopReason.MEMORY.over_bytes(200 << 20)
# No other run on this machine has processes with it.
MARK = f"mark-{secrets.token_hex(8)}"
HOLD = "import time; time.sleep(20)"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"python3 -c 'x = bytearray(400 << 20); {HOLD}'", id="one process"),
        pytest.param(
            "for i in 1 2 3 4 5 6; do"
            f" setsid python3 -c 'x = bytearray(60 << 20); {HOLD}' & done; wait",
            id="many small ones that left their group",
        ),
        pytest.param("tail /dev/zero", id="tail of an endless line"),
        pytest.param(
            "for i in $(seq 20); do head -c 15000000 /dev/zero > /dev/shm/$i; done; sleep 20",
            id="files in shared memory",
        ),
        pytest.param(
            "python3 -c 'import os, time\n"
            "for i in range(20):\n"
            '    f = os.memfd_create("x"); os.write(f, bytes(15 << 20))\n'
            "time.sleep(20)'",
            id="files without a name",
        ),
        pytest.param(
            "python3 -c 'import mmap, time; m = mmap.mmap(-1, 300 << 20)\n"
            "for i in range(0, 300 << 20, 4096): m[i] = 1\ntime.sleep(20)'",
            id="shared mapping",
        ),
    ],
)
async def test_memory_of_all_processes_together_is_bounded(box: Box, text: str) -> None:
    started = time.monotonic()
    ended = await box.run(text)
    assert ended.stopped == MEMORY, box.output
    assert not ended.timed_out
    assert time.monotonic() - started < 15


async def test_shared_pages_count_once(box: Box) -> None:
    ended = await box.run(
        "python3 -c 'import os, time\n"
        "x = bytearray(120 << 20)\n"
        "for i in range(6):\n"
        "    if os.fork() == 0: time.sleep(1.2); os._exit(0)\n"
        "time.sleep(1.5)'"
    )
    assert ended.stopped is None
    assert ended.code == 0


@pytest.mark.deep
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("bomb() { bomb | bomb & }; bomb; sleep 60", id="fork bomb"),
        pytest.param("while true; do setsid sleep 60 & done", id="endless sleepers"),
        pytest.param(
            "python3 -c 'import threading, time\n"
            "for i in range(200): threading.Thread(target=time.sleep, args=(60,)).start()'",
            id="threads",
        ),
    ],
)
async def test_processes_are_bounded(box: Box, text: str) -> None:
    if not BOUND_BY_KERNEL:
        # A slow watchdog would cost this machine all its process numbers.
        text = "for i in $(seq 900); do sleep 60 & done; wait"
    started = time.monotonic()
    ended = await box.run(text)
    assert ended.stopped == StopReason.PROCESSES.over(60)
    assert time.monotonic() - started < 45  # they would take a minute


async def test_the_kernel_holds_processes_when_nobody_looks(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchdog, "_FIRST_LOOK_S", 60)
    before = Path("/proc/sys/kernel/pid_max").read_text()
    ended = await box.run("sleep 0.3; for i in $(seq 900); do sleep 2 & done; wait")
    assert b"Resource temporarily unavailable" in box.output or not BOUND_BY_KERNEL
    assert ended.stopped is None
    assert Path("/proc/sys/kernel/pid_max").read_text() == before


async def test_nothing_of_a_stopped_command_is_left(box: Box) -> None:
    ended = await box.run(
        f"for i in $(seq 100); do setsid nohup bash -c 'sleep 40; : limit-{MARK}' & done; sleep 30"
    )
    assert ended.stopped
    assert marked_processes(f"limit-{MARK}") == []


@pytest.mark.deep
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("exec yes >/dev/null", id="one process"),
        pytest.param("while true; do for i in 1 2 3; do :; done; /bin/true; done", id="many short"),
        pytest.param("yes >/dev/null & yes >/dev/null & wait", id="several at once"),
    ],
)
async def test_processor_time_of_the_tree_is_bounded(box: Box, text: str) -> None:
    ended = await box.run(text, limits=replace(SMALL, cpu_s=1))
    assert ended.stopped == StopReason.PROCESSOR.over(1)
    assert ended.duration_s < 15


@pytest.mark.parametrize("text", ["yes > file", "exec dd if=/dev/zero of=~/file bs=1M"])
async def test_one_file_is_bounded(box: Box, text: str) -> None:
    ended = await box.run(text)
    assert ended.stopped == StopReason.FILE.over_bytes(20 << 20)
    sizes = [path.stat().st_size for path in (box.worktree, box.session_dir / "home")]
    assert max(sizes) <= 20 * MIB


@pytest.mark.deep
async def test_what_a_session_keeps_is_bounded_and_can_be_cleared(box: Box) -> None:
    limits = replace(SMALL, home_bytes=30 * MIB)
    fill = "i=0; while true; do i=$((i+1)); head -c 2000000 /dev/zero > ~/$i; sleep 0.2; done"
    ended = await box.run(fill, limits=limits)
    assert ended.stopped == StopReason.HOME.over_bytes(30 << 20)
    ended = await box.run("rm ~/[1-9]*; sleep 2.5", limits=limits)
    assert ended.stopped is None


async def test_a_command_must_leave_room_on_the_disk(box: Box) -> None:
    full = replace(SMALL, free_disk_bytes=1 << 60, file_bytes=200 * MIB)
    ended = await box.run("head -c 80000000 /dev/urandom > big; sleep 20", limits=full)
    assert english(ended.stopped or "").startswith("left less than")
    ended = await box.run("rm big; sleep 1", limits=full)
    assert ended.stopped is None


async def test_a_worktree_that_goes_away_is_no_error(box: Box) -> None:
    async def remove() -> None:
        await asyncio.sleep(0.1)
        box.worktree.rename(box.worktree.with_name("elsewhere"))

    removing = asyncio.create_task(remove())
    ended = await box.run("sleep 0.6", limits=replace(SMALL, free_disk_bytes=1 << 60))
    await removing
    assert (ended.code, ended.stopped) == (0, None)


def test_disk_use_counts_what_is_there_and_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "large").write_bytes(b"x" * 300_000)
    before = measure_disk([tmp_path / "a"], stop=lambda: False)
    assert 300_000 <= before < 400_000
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_bytes(b"x" * 900_000)
    (tmp_path / "a" / "link").symlink_to(tmp_path / "other")
    assert measure_disk([tmp_path / "a"], stop=lambda: False) < before + 10_000
    assert measure_disk([tmp_path / "missing"], stop=lambda: False) == 0
    assert measure_disk([tmp_path / "a"], stop=lambda: True) == 0


async def test_an_ordinary_command_is_left_alone(box: Box) -> None:
    ended = await box.run("sleep 1; echo fine")
    assert (ended.code, ended.stopped, box.output) == (0, None, b"fine\n")


async def test_a_time_out_is_no_limit(box: Box) -> None:
    ended = await box.run("sleep 20", timeout_s=0.6)
    assert ended.timed_out
    assert ended.stopped is None


async def test_a_cancel_during_a_look_leaves_nothing(box: Box) -> None:
    for pause_s in (0.28, 0.3, 0.305, 0.31):
        task = asyncio.create_task(box.run(f"sleep 40; : look-{MARK}"))
        await asyncio.sleep(pause_s)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert marked_processes(f"look-{MARK}") == []


async def test_short_commands_are_never_measured(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise AssertionError

    monkeypatch.setattr(Meter, "measure", fail)
    assert (await box.run("true")).code == 0


async def test_a_look_is_cheap(box: Box) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF)
    await box.run("for i in $(seq 40); do sleep 2 & done; wait")
    after = resource.getrusage(resource.RUSAGE_SELF)
    spent_s = (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)
    assert spent_s < 0.5


async def test_a_fork_bomb_has_no_time_while_its_memory_is_measured(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise AssertionError

    monkeypatch.setattr(usage, "_memfd_bytes", fail)
    ended = await box.run("sleep 20 & sleep 20", limits=replace(SMALL, processes=1))
    assert ended.stopped == StopReason.PROCESSES.over(1)


def test_the_host_is_not_taken_for_a_sandbox() -> None:
    meter = Meter(("dev/shm",))
    assert meter.measure(os.getpid(), suspicious_bytes=0, most=60) is None
    assert meter.measure(2**22 + 1, suspicious_bytes=0, most=60) is None


def test_limits_can_be_lowered_and_not_raised() -> None:
    lower = SMALL.lowered(memory_bytes=100 * MIB, processes=None)
    assert (lower.memory_bytes, lower.processes) == (100 * MIB, 60)
    assert SMALL.lowered(memory_bytes=900 * MIB, processes=900) == SMALL


def test_what_the_kernel_ended_is_said() -> None:
    assert exceeded(153, SMALL) == StopReason.FILE.over_bytes(20 << 20)
    assert exceeded(152, SMALL) == StopReason.PROCESSOR.over(60)
    assert exceeded(152, replace(SMALL, cpu_s=None)) is None
    assert exceeded(137, SMALL) is exceeded(0, SMALL) is exceeded(None, SMALL) is None
    assert "ulimit -t" not in shell_limits(replace(SMALL, cpu_s=None))
