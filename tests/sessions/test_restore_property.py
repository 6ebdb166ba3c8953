# ruff: noqa: PTH101, PTH103, PTH104, PTH108, PTH112, PTH113, PTH114, PTH115, PTH116, PTH118, PTH120, PTH208, PTH211
# Names are bytes here: they need not be text.
from __future__ import annotations

import asyncio
import os
import shutil
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import Settings

from sessions.changes.steps import ChangedStep
from sessions.git.snapshots import Snapshots
from sessions.models import Project, Session
from sessions.runner.files.restore_files import carry_out, describe
from sessions.runner.files.restore_plan import plan_before, plan_undo

pytestmark = pytest.mark.django_db

# Few names, so that a file, a link and a folder come to the same place.
NAMES = [
    b"a",
    b"b",
    b"with space",
    "gr\u00f6\u00dfe \u2603".encode(),
    b"new\nline",
    b"\xff\xfe",
    b"-n",
]
Tree = dict[bytes, tuple[str, bytes]]

_names = st.sampled_from(NAMES)
_paths = st.lists(_names, min_size=1, max_size=3).map(b"/".join)
_contents = st.sampled_from([b"", b"one\n", b"one\r\ntwo\r\n", b"\0\1\2binary", b"x" * 5_000])
_edits = st.one_of(
    st.tuples(st.just("write"), _paths, _contents),
    st.tuples(st.just("remove"), _paths),
    st.tuples(st.just("rename"), _paths, _paths),
    st.tuples(st.just("mode"), _paths),
    st.tuples(st.just("link"), _paths, _paths),
)


def _clear(path: bytes) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def _make_room(root: bytes, path: bytes) -> bytes:
    full = root
    *folders, name = path.split(b"/")
    for folder in folders:
        full = os.path.join(full, folder)
        if os.path.islink(full) or (os.path.lexists(full) and not os.path.isdir(full)):
            os.unlink(full)
        os.makedirs(full, exist_ok=True)
    full = os.path.join(full, name)
    _clear(full)
    return full


def _apply(root: bytes, edit: tuple[object, ...]) -> None:
    match edit:
        case ("write", bytes(path), bytes(content)):
            Path(os.fsdecode(_make_room(root, path))).write_bytes(content)
        case ("remove", bytes(path)):
            if _is_plain(root, path):
                _clear(os.path.join(root, path))
        case ("rename", bytes(path), bytes(to)):
            if _is_plain(root, path) and not (to + b"/").startswith(path + b"/"):
                content = _read(os.path.join(root, path))
                if content is not None and not (path + b"/").startswith(to + b"/"):
                    os.rename(os.path.join(root, path), _make_room(root, to))
        case ("mode", bytes(path)):
            full = os.path.join(root, path)
            if _is_plain(root, path) and os.path.isfile(full) and not os.path.islink(full):
                os.chmod(full, os.stat(full).st_mode ^ 0o111)
        case ("link", bytes(path), bytes(to)):
            os.symlink(to, _make_room(root, path))


def _is_plain(root: bytes, path: bytes) -> bool:
    full = os.path.join(root, path)
    return os.path.lexists(full) and os.path.realpath(os.path.dirname(full)) == os.path.dirname(
        full
    )


def _read(path: bytes) -> bytes | None:
    return b"" if os.path.lexists(path) and not os.path.isdir(path) else None


def _tree(root: bytes) -> Tree:
    found: Tree = {}
    for folder, names, files in os.walk(root):
        for name in [*names, *files]:
            full = os.path.join(folder, name)
            path = os.path.relpath(full, root)
            info = os.lstat(full)
            if stat.S_ISLNK(info.st_mode):
                found[path] = ("link", os.readlink(full))
            elif stat.S_ISREG(info.st_mode):
                mode = "x" if info.st_mode & 0o100 else "-"
                found[path] = (mode, Path(os.fsdecode(full)).read_bytes())
    return found


@settings(
    max_examples=4,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(_edits, max_size=25), st.lists(_edits, max_size=25), st.lists(_edits, max_size=6))
def test_whatever_is_edited_goes_back_and_comes_back(
    session: Session,
    project: Project,
    tmp_path: Path,
    settings: Settings,
    first: list[tuple[object, ...]],
    second: list[tuple[object, ...]],
    third: list[tuple[object, ...]],
) -> None:
    settings.DATA_DIR = tmp_path / "data"
    root = os.fsencode(os.path.realpath(project.directory))
    git = _tree(os.path.join(root, b".git"))
    for entry in os.listdir(root):
        if entry != b".git":
            _clear(os.path.join(root, entry))

    def seen() -> Tree:
        return {path: what for path, what in _tree(root).items() if path[:5] != b".git/"}

    async def play() -> None:
        snapshots = Snapshots(session)
        for edit in first:
            _apply(root, edit)
        before, was = await snapshots.track(), seen()
        for edit in second:
            _apply(root, edit)
        middle = await snapshots.track()
        for edit in third:
            _apply(root, edit)
        now, is_now = await snapshots.track(), seen()
        steps = [
            ChangedStep("msg_1", 1, before, middle),
            ChangedStep("msg_2", 2, middle, now),
        ]
        plan = await plan_before(snapshots, steps, end=now)
        outcome = await carry_out(snapshots, plan, now)
        assert outcome.kept == {}
        assert seen() == was
        restored, _ = await describe(snapshots, outcome, now)
        back = await carry_out(
            snapshots, await plan_undo(snapshots, restored), await snapshots.track()
        )
        assert back.kept == {}
        assert seen() == is_now

    asyncio.run(play())
    assert _tree(os.path.join(root, b".git")) == git
