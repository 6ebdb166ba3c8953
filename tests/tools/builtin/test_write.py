from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes import FakeToolContext
from tools.context import PermissionAsk
from tools.errors import PermissionRejected, ToolError


async def test_a_new_file_is_written_with_its_folders(
    context: FakeToolContext, worktree: Path
) -> None:
    result = await context.call("write", filePath="a/b/c.txt", content="one\r\ntwo")
    assert (worktree / "a/b/c.txt").read_bytes() == b"one\r\ntwo"
    assert result.title == "a/b/c.txt"
    assert result.output == "Wrote file successfully."
    assert result.metadata == {
        "diagnostics": {},
        "filepath": str(worktree / "a/b/c.txt"),
        "exists": False,
        "truncated": False,
    }


async def test_it_asks_to_edit_with_the_difference(
    context: FakeToolContext, worktree: Path
) -> None:
    (worktree / "a.txt").write_text("old\n")
    await context.know("a.txt")
    result = await context.call("write", filePath="a.txt", content="new\n")
    (ask,) = context.asks
    assert (ask.permission, ask.patterns, ask.always) == ("edit", ("a.txt",), ("*",))
    assert ask.metadata["filepath"] == str(worktree / "a.txt")
    assert "-old\n+new\n" in str(ask.metadata["diff"])
    assert result.metadata["exists"] is True


async def test_a_rejection_changes_nothing(context: FakeToolContext, worktree: Path) -> None:
    (worktree / "a.txt").write_text("old")

    def reject(ask: PermissionAsk) -> None:
        raise PermissionRejected

    context.on_ask = reject
    await context.know("a.txt")
    with pytest.raises(PermissionRejected):
        await context.call("write", filePath="a.txt", content="new")
    with pytest.raises(PermissionRejected):
        await context.call("write", filePath="sub/b.txt", content="new")
    assert (worktree / "a.txt").read_text() == "old"
    assert not (worktree / "sub").exists()


async def test_a_file_is_replaced_only_as_it_was_read(
    context: FakeToolContext, worktree: Path
) -> None:
    (worktree / "a.txt").write_text("old")
    with pytest.raises(ToolError, match="has not been read"):
        await context.call("write", filePath="a.txt", content="new")
    await context.call("read", filePath="a.txt")
    await context.call("write", filePath="a.txt", content="new\r\n")
    await context.call("write", filePath="a.txt", content="newer\r\n")
    assert (worktree / "a.txt").read_bytes() == b"newer\r\n"
    (worktree / "a.txt").write_text("somebody else's")
    with pytest.raises(ToolError, match="has changed since"):
        await context.call("write", filePath="a.txt", content="newest")
    (worktree / "a.txt").unlink()
    await context.call("write", filePath="a.txt", content="newest")
    assert (worktree / "a.txt").read_text() == "newest"


async def test_a_byte_order_mark_is_kept(context: FakeToolContext, worktree: Path) -> None:
    (worktree / "a.txt").write_bytes(b"\xef\xbb\xbfold")
    await context.know("a.txt")
    await context.call("write", filePath="a.txt", content="new")
    assert (worktree / "a.txt").read_bytes() == b"\xef\xbb\xbfnew"


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("folder", "Path is a directory"),
        (".", "Path is a directory"),
        ("file/x", "is a file"),
        ("../x", "outside the project"),
        ("out/x", "outside the project"),
    ],
)
async def test_what_cannot_be_written_is_refused_before_the_ask(
    context: FakeToolContext, worktree: Path, path: str, problem: str
) -> None:
    (worktree / "folder").mkdir()
    (worktree / "file").write_text("")
    (worktree / "out").symlink_to(worktree.parent)
    with pytest.raises(ToolError, match=problem):
        await context.call("write", filePath=path, content="x")
    assert context.asks == []
    assert not (worktree.parent / "x").exists()


async def test_a_kept_output_cannot_be_written(context: FakeToolContext) -> None:
    kept = context.output_dir / "tool_1"
    with pytest.raises(ToolError, match="outside the project"):
        await context.call("write", filePath=str(kept), content="x")
    assert not kept.exists()


async def test_a_link_put_there_while_a_person_thinks_is_not_followed(
    context: FakeToolContext, worktree: Path, tmp_path: Path
) -> None:
    victim = tmp_path / "victim.txt"
    victim.write_text("private")

    def swap(ask: PermissionAsk) -> None:
        (worktree / "a.txt").symlink_to(victim)

    context.on_ask = swap
    with pytest.raises(ToolError, match="became a link"):
        await context.call("write", filePath="a.txt", content="x")
    assert victim.read_text() == "private"
