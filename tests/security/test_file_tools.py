from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import FakeToolContext
from tests.security.arena import Arena, open_arena
from tests.security.paths import OUTSIDE_PATHS
from tools.errors import ToolError

LONGEST_S = 5


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    with prepared(tmp_path_factory.mktemp("shared") / "host") as arena:
        yield arena


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Arena]:
    with prepared(tmp_path / "host") as arena:
        yield arena


@contextlib.contextmanager
def prepared(root: Path) -> Iterator[Arena]:
    with open_arena(root) as arena:
        (arena.root / "projects" / "mine-evil").mkdir()
        (arena.root / "projects" / "mine-evil" / "key.txt").write_text(arena.secrets["project"])
        set_traps(arena)
        yield arena


def set_traps(arena: Arena) -> None:
    trap = arena.worktree / "trap"
    trap.mkdir()
    for name, target in {
        "file-link": arena.other / "key.txt",
        "relative-link": "../../other/key.txt",
        "folder-link": arena.other,
        "chain-1": "chain-2",
        "chain-2": "chain-3",
        "chain-3": arena.other / "key.txt",
        "chain-folder": "parent-link",
        "root-link": "/",
        "proc-link": "/proc/self/root",
        "cwd-link": "/proc/self/cwd",
        "parent-link": "../..",
        "database-link": arena.server / "db.sqlite3",
        "environ-link": "/proc/self/environ",
        "fd-link": "/proc/self/fd/0",
        "loop": "loop",
        "dangling": arena.other / "not-yet",
        "dangling-folder": arena.other / "not-yet-folder",
    }.items():
        (trap / name).symlink_to(target)


def is_inside(path: Path, worktree: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(worktree)


async def call(context: FakeToolContext, tool: str, **arguments: Any) -> str:
    try:
        async with asyncio.timeout(LONGEST_S):
            return (await context.call(tool, **arguments)).output
    except ToolError as exc:
        return str(exc)


@pytest.mark.parametrize("path", OUTSIDE_PATHS)
async def test_feat2_nfr_01_no_path_leads_a_file_tool_outside(shared: Arena, path: str) -> None:
    before = shared.outside()
    context = shared.context()
    place = shared.fill(path)
    said = [
        await call(context, "read", filePath=place),
        await call(context, "list", path=place),
        await call(context, "glob", pattern="**/*", path=place),
        await call(context, "glob", pattern=place),
        await call(context, "grep", pattern="canary", path=place),
        await call(context, "grep", pattern="canary", include=place),
        await call(context, "write", filePath=place, content="overwritten"),
        await call(context, "write", filePath=f"{place}/made", content="made"),
        await call(context, "edit", filePath=place, oldString="canary", newString="gone"),
        await call(context, "edit", filePath=place, oldString="", newString="made"),
        await call(context, "bash", command="cat key.txt; ls", workdir=place),
    ]
    assert shared.leaked("\n".join(said)) == []
    assert shared.outside() == before


@pytest.mark.parametrize(
    "pattern",
    [
        *("../**/*", "/**/key.txt", "**/../other/*", "@OTHER@/*", "{../other,.}/*", "trap/*/*"),
        *("trap/folder-link/*", "trap/root-link/**/key.txt", "[.][.]/other/*", "trap/**/key.txt"),
    ],
)
async def test_feat2_nfr_01_no_pattern_searches_outside(shared: Arena, pattern: str) -> None:
    context = shared.context()
    text = shared.fill(pattern)
    found = await call(context, "glob", pattern=text)
    lines = [line for line in found.splitlines() if line.startswith("/")]
    assert [line for line in lines if not is_inside(Path(line), shared.worktree)] == []
    for given in ({"include": text}, {"path": text}):
        assert shared.leaked(await call(context, "grep", pattern="canary-", **given)) == []


@pytest.mark.parametrize("tool", ["read", "write", "edit", "grep", "bash"])
async def test_pipes_sockets_and_devices_do_not_hang_a_tool(arena: Arena, tool: str) -> None:
    os.mkfifo(arena.worktree / "pipe")
    with contextlib.suppress(PermissionError):
        os.mknod(arena.worktree / "zero", 0o020666, os.makedev(1, 5))
    (arena.worktree / "socket-link").symlink_to(arena.server / "s.sock")
    started = time.monotonic()
    context = arena.context()
    for name in ("pipe", "zero", "socket-link"):
        arguments: dict[str, dict[str, Any]] = {
            "read": {"filePath": name},
            "write": {"filePath": name, "content": "x"},
            "edit": {"filePath": name, "oldString": "a", "newString": "b"},
            "grep": {"pattern": "x", "path": name},
            "bash": {"command": "true", "workdir": name},
        }
        await call(context, tool, **arguments[tool])
    assert time.monotonic() - started < LONGEST_S
    assert arena.listeners["unix"].reached == 0


async def test_a_command_makes_no_hard_link_to_what_is_outside(arena: Arena) -> None:
    places = [arena.other / "key.txt", arena.server / "db.sqlite3", arena.neighbour / "tmp/note"]
    context = arena.context()
    for number, place in enumerate(places):
        await call(
            context,
            "bash",
            command=f"ln {place} hard-{number}; ln -L trap/file-link hard-{number};"
            f' python3 -c \'import os; os.link("{place}", "hard-{number}")\';'
            f" cp -l {place} hard-{number}",
        )
        said = await call(context, "read", filePath=f"hard-{number}")
        assert arena.leaked(said) == []
    assert all(place.stat().st_nlink == 1 for place in places)


class Swapper:
    """Makes a name by turns a folder (or file) of the worktree and a link out of it."""

    def __init__(self, name: Path, target: Path) -> None:
        self._name, self._target = name, target
        self._stop = False
        self.rounds = 0
        self._thread = threading.Thread(target=self._swap)

    def _swap(self) -> None:
        spare = self._name.with_name("spare")
        link = self._name.with_name("link")
        while not self._stop:
            link.symlink_to(self._target)
            self._name.rename(spare)
            self._move(link)
            self._name.unlink()
            self._move(spare)
            self.rounds += 1

    def _move(self, source: Path) -> None:
        while True:
            try:
                source.rename(self._name)
            except OSError:
                # A tool has made the missing folder meanwhile, as it may.
                shutil.rmtree(self._name, ignore_errors=True)
            else:
                return

    def __enter__(self) -> Swapper:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop = True
        self._thread.join()


@pytest.mark.parametrize("what", ["folder", "file"])
async def test_feat2_nfr_01_a_link_swapped_in_during_a_call_leads_nowhere(
    arena: Arena, what: str
) -> None:
    (arena.worktree / "a" / "b").mkdir(parents=True)
    (arena.worktree / "a" / "b" / "key.txt").write_text("mine")
    if what == "folder":
        swapper = Swapper(arena.worktree / "a" / "b", arena.other)
    else:
        swapper = Swapper(arena.worktree / "a" / "b" / "key.txt", arena.other / "key.txt")
    before = arena.outside()
    context = arena.context()
    said: list[str] = []
    until = time.monotonic() + 1.5
    with swapper:
        while time.monotonic() < until:
            said.append(await call(context, "read", filePath="a/b/key.txt"))
            said.append(await call(context, "write", filePath="a/b/key.txt", content="mine"))
            said.append(
                await call(context, "edit", filePath="a/b/key.txt", oldString="mine", newString="m")
            )
            said.append(await call(context, "grep", pattern="canary-", path="a/b"))
            said.append(await call(context, "list", path="a/b"))
    assert swapper.rounds > 50
    assert len(said) > 20
    assert arena.leaked("\n".join(said)) == []
    assert arena.outside() == before


async def test_feat2_nfr_01_other_sessions_outputs_are_not_readable(arena: Arena) -> None:
    mine = arena.server / "tool-output" / "ses_mine" / "tool_mine"
    context = arena.context()
    mine.write_text("my own output")
    (mine.parent / "linked").symlink_to(arena.server / "tool-output" / "ses_other" / "tool_1")
    assert "my own output" in await call(context, "read", filePath=str(mine))
    said = [
        await call(context, "read", filePath=str(mine.parent / "linked")),
        await call(context, "grep", pattern="canary-", path=str(mine.parent)),
        await call(context, "write", filePath=str(mine), content="changed"),
    ]
    assert arena.leaked("\n".join(said)) == []
    assert mine.read_text() == "my own output"
