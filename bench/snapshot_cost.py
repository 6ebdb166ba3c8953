"""Runs inside our server's Django: what snapshots of a large repository cost, beside plain git."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from sessions.changes.steps import ChangedStep
from sessions.git.snapshots import Snapshots
from sessions.models import Project, Session
from sessions.runner.files.restore_files import carry_out
from sessions.runner.files.restore_plan import plan_before

CHANGES = 1_000
T = TypeVar("T")


def measure(*, folder: str) -> None:
    """Print seconds and bytes by row."""
    project = Project.objects.get(directory=os.path.realpath(folder))
    found = asyncio.run(_ours(Snapshots(Session(id="ses_bench", project=project)), Path(folder)))
    print(json.dumps(found | _plain_git(Path(folder))))


async def _ours(snapshots: Snapshots, folder: Path) -> dict[str, float]:
    found: dict[str, float] = {}

    async def timed(key: str, work: Callable[[], Awaitable[T]]) -> T:
        cpu, wall = _cpu_s(), time.monotonic()
        done = await work()
        found[f"snap.{key}"] = time.monotonic() - wall
        found[f"snap.{key}.cpu"] = _cpu_s() - cpu
        return done

    first = await timed("first", snapshots.track)
    found["snap.bytes"] = _size(Path(snapshots.git_dir)) / 1e6
    await timed("none", snapshots.track)
    _change(folder, 1, "one")
    one = await timed("one", snapshots.track)
    _change(folder, CHANGES, "many")
    many = await timed("many", snapshots.track)
    steps = [ChangedStep("msg_1", 1, first, one), ChangedStep("msg_2", 2, one, many)]

    async def revert() -> None:
        plan = await plan_before(snapshots, steps, end=many)
        outcome = await carry_out(snapshots, plan, many)
        if len(outcome.done) != CHANGES:
            raise RuntimeError(f"{len(outcome.done)} files went back, {len(outcome.kept)} not")

    await timed("revert", revert)
    return found


def _plain_git(folder: Path) -> dict[str, float]:
    """The same with an index of its own and git's own way, outside any sandbox."""
    git_dir = folder.parent / "plain.git"
    environment = {"PATH": os.environ["PATH"], "HOME": "/", "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*arguments: str) -> None:
        place = [f"--git-dir={git_dir}", f"--work-tree={folder}"]
        subprocess.run(
            ["git", *place, *arguments], check=True, capture_output=True, env=environment
        )

    def track() -> float:
        wall = time.monotonic()
        git("add", "-A")
        git("write-tree")
        return time.monotonic() - wall

    git("init", "-q")
    found = {"snap.first.git": track(), "snap.none.git": track()}
    _change(folder, 1, "one again")
    found["snap.one.git"] = track()
    _change(folder, CHANGES, "many again")
    found["snap.many.git"] = track()
    found["snap.bytes.git"] = _size(git_dir) / 1e6
    return found


def _change(folder: Path, count: int, text: str) -> None:
    for path in sorted(folder.rglob("file_*.txt"))[:count]:
        path.write_text(f"{text}\n")


def _size(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
