from __future__ import annotations

import ctypes
import fcntl
import os
import threading
import time
from pathlib import Path

import pytest

from tests.fakes import FakeToolContext
from tools import paths
from tools.errors import ToolError
from tools.paths import (
    locate,
    open_file,
    open_folder,
    read_bytes,
    replace_file,
    stat_located,
)

AT_FDCWD = -100
RENAME_EXCHANGE = 2


def read(context: FakeToolContext, text: str) -> bytes:
    return read_bytes(locate(context, text), max_bytes=1_000)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text("private")
    return folder


@pytest.mark.parametrize(
    "text",
    ["/etc/passwd", "..", "../x", "a/../../x", "/", "~/../..//etc", "/proc/self/environ"],
)
def test_it_rejects_a_path_outside_the_worktree(context: FakeToolContext, text: str) -> None:
    if text.startswith("~"):
        context.directory = context.worktree
        text = "a/b/../../.." + text[1:]
    with pytest.raises(ToolError, match="outside the project"):
        locate(context, text)


@pytest.mark.parametrize("text", ["", "a\0b"])
def test_it_rejects_what_is_no_path(context: FakeToolContext, text: str) -> None:
    with pytest.raises(ToolError, match="path"):
        locate(context, text)


def test_a_folder_whose_name_begins_like_the_worktree_is_outside(
    context: FakeToolContext, worktree: Path
) -> None:
    sibling = worktree.parent / "project-other"
    sibling.mkdir()
    with pytest.raises(ToolError, match="outside"):
        locate(context, str(sibling / "a"))


def test_relative_and_absolute_paths_name_the_same(
    context: FakeToolContext, worktree: Path
) -> None:
    (worktree / "sub").mkdir()
    context.directory = worktree / "sub"
    located = locate(context, "a.txt")
    assert located == locate(context, str(worktree / "sub" / "a.txt"))
    assert located.relative == located.title == "sub/a.txt"
    assert located.patterns == ("sub/a.txt",)


def test_the_root_itself_has_an_empty_title_and_a_pattern(context: FakeToolContext) -> None:
    located = locate(context, ".")
    assert located.title == ""
    assert located.patterns == (".",)


def test_a_link_inside_is_followed_and_both_names_are_asked_for(
    context: FakeToolContext, worktree: Path
) -> None:
    (worktree / ".env").write_text("KEY=1")
    (worktree / "notes").symlink_to(".env")
    assert locate(context, "notes").patterns == ("notes", ".env")
    assert read(context, "notes") == b"KEY=1"


@pytest.mark.parametrize("absolute", [True, False])
def test_a_link_out_is_refused(
    context: FakeToolContext, worktree: Path, secret: Path, absolute: bool
) -> None:
    target = secret if absolute else Path("..") / secret.name
    (worktree / "folder").symlink_to(target)
    (worktree / "file").symlink_to(target / "secret.txt")
    (worktree / "chain").symlink_to("folder")
    for text in ("folder/secret.txt", "file", "chain/secret.txt", "folder", "folder/new.txt"):
        with pytest.raises(ToolError, match="outside the project"):
            locate(context, text)


def test_a_loop_of_links_is_an_error(context: FakeToolContext, worktree: Path) -> None:
    (worktree / "a").symlink_to("b")
    (worktree / "b").symlink_to("a")
    with pytest.raises(ToolError):
        read(context, "a")


def test_a_file_swapped_for_a_link_after_the_check_is_refused(
    context: FakeToolContext, worktree: Path, secret: Path
) -> None:
    (worktree / "a.txt").write_text("mine")
    located = locate(context, "a.txt")
    (worktree / "a.txt").unlink()
    (worktree / "a.txt").symlink_to(secret / "secret.txt")
    with pytest.raises(ToolError, match="became a link"):
        read_bytes(located, max_bytes=100)


def test_a_folder_swapped_for_a_link_after_the_check_is_refused(
    context: FakeToolContext, worktree: Path, secret: Path
) -> None:
    (worktree / "sub").mkdir()
    located = locate(context, "sub/secret.txt")
    folder = locate(context, "sub")
    (worktree / "sub").rmdir()
    (worktree / "sub").symlink_to(secret)
    with pytest.raises(ToolError, match="became a link"):
        read_bytes(located, max_bytes=100)
    with pytest.raises(ToolError, match="became a link"):
        replace_file(located, lambda old: b"overwritten", max_bytes=100)
    with pytest.raises(ToolError, match="became a link"), open_folder(folder):
        pass
    with pytest.raises(ToolError, match="became a link"):
        stat_located(located)
    assert (secret / "secret.txt").read_text() == "private"


def test_a_link_that_flickers_never_leads_out(
    context: FakeToolContext, worktree: Path, secret: Path
) -> None:
    (worktree / "sub").mkdir()
    (worktree / "sub" / "secret.txt").write_text("mine")
    (worktree / "link").symlink_to(secret)
    libc = ctypes.CDLL(None, use_errno=True)
    names = [os.fsencode(worktree / name) for name in ("sub", "link")]
    stop = threading.Event()
    swaps = 0

    def swap() -> None:
        nonlocal swaps
        while not stop.is_set():
            # Exchange both names in one step, so that there always is a "sub".
            assert libc.renameat2(AT_FDCWD, names[0], AT_FDCWD, names[1], RENAME_EXCHANGE) == 0
            swaps += 1

    thread = threading.Thread(target=swap)
    thread.start()
    seen = set()
    deadline = time.monotonic() + 1.5
    try:
        while time.monotonic() < deadline:
            try:
                located = locate(context, "sub/secret.txt")
                seen.add(read_bytes(located, max_bytes=100))
                replace_file(located, lambda old: b"mine", max_bytes=100)
            except (ToolError, OSError):
                continue
    finally:
        stop.set()
        thread.join()
    assert seen == {b"mine"}
    assert swaps > 100
    assert (secret / "secret.txt").read_text() == "private"


def test_a_pipe_and_a_device_do_not_hang_it(context: FakeToolContext, worktree: Path) -> None:
    os.mkfifo(worktree / "pipe")
    with pytest.raises(ToolError, match="not a regular file"):
        read(context, "pipe")
    with pytest.raises(ToolError, match="not a regular file"):
        replace_file(locate(context, "pipe"), lambda old: b"", max_bytes=100)


def test_a_file_over_the_limit_is_refused(context: FakeToolContext, worktree: Path) -> None:
    (worktree / "a").write_bytes(b"x" * 1_001)
    with pytest.raises(ToolError, match="larger than"):
        read(context, "a")


def test_replacing_makes_folders_and_keeps_the_mode(
    context: FakeToolContext, worktree: Path
) -> None:
    old, new = replace_file(locate(context, "a/b/c.sh"), lambda old: b"one", max_bytes=100)
    assert (old, new) == (None, b"one")
    (worktree / "a/b/c.sh").chmod(0o750)
    old, _ = replace_file(locate(context, "a/b/c.sh"), lambda old: b"two", max_bytes=100)
    assert old == b"one"
    assert (worktree / "a/b/c.sh").read_text() == "two"
    assert (worktree / "a/b/c.sh").stat().st_mode & 0o777 == 0o750
    assert [path.name for path in (worktree / "a/b").iterdir()] == ["c.sh"]


def test_replacing_through_a_link_changes_its_target(
    context: FakeToolContext, worktree: Path
) -> None:
    (worktree / "real.txt").write_text("old")
    (worktree / "link.txt").symlink_to("real.txt")
    replace_file(locate(context, "link.txt"), lambda old: b"new", max_bytes=100)
    assert (worktree / "link.txt").is_symlink()
    assert (worktree / "real.txt").read_text() == "new"


def test_a_failed_change_leaves_the_file_and_no_rest(
    context: FakeToolContext, worktree: Path
) -> None:
    (worktree / "a").write_text("old")

    def fail(old: bytes | None) -> bytes:
        raise ToolError("no")

    with pytest.raises(ToolError, match="no"):
        replace_file(locate(context, "a"), fail, max_bytes=100)
    assert [path.name for path in worktree.iterdir()] == ["a"]
    assert (worktree / "a").read_text() == "old"


def test_two_changes_of_one_file_do_not_lose_one(context: FakeToolContext, worktree: Path) -> None:
    (worktree / "n").write_text("")
    located = locate(context, "n")

    def add(old: bytes | None) -> bytes:
        time.sleep(0.005)
        return (old or b"") + b"x"

    threads = [
        threading.Thread(target=replace_file, args=(located, add), kwargs={"max_bytes": 100})
        for _ in range(10)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (worktree / "n").read_text() == "x" * 10


def test_a_lock_that_is_never_let_go_ends_in_an_error(
    context: FakeToolContext, worktree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "_LOCK_WAIT_S", 0.1)
    fd = os.open(worktree, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        with pytest.raises(ToolError, match="being changed"):
            replace_file(locate(context, "a"), lambda old: b"x", max_bytes=100)
    finally:
        os.close(fd)


def test_managed_outputs_are_readable_only_where_admitted(context: FakeToolContext) -> None:
    kept = context.output_dir / "tool_1"
    kept.write_text("whole")
    with pytest.raises(ToolError, match="outside"):
        locate(context, str(kept))
    located = locate(context, str(kept), managed=True)
    assert located.title == str(kept)
    assert located.patterns == (str(kept),)
    with open_file(located) as fd:
        assert os.read(fd, 10) == b"whole"


def test_a_worktree_reached_through_a_link_works(tmp_path: Path, worktree: Path) -> None:
    alias = tmp_path / "alias"
    alias.symlink_to(worktree)
    (worktree / "a").write_text("x")
    context = FakeToolContext(worktree=alias, output_dir=tmp_path)
    located = locate(context, "a")
    assert located.relative == "a"
    assert located.root == worktree
    assert read(context, str(worktree / "a")) == b"x"
