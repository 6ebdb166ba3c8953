"""What holds for every tool that changes files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fakes import FakeToolContext
from tests.tools.test_patch_format import patch
from tools.errors import ToolError


def write(path: str) -> dict[str, Any]:
    return {"filePath": path, "content": "new\n"}


def edit(path: str) -> dict[str, Any]:
    return {"filePath": path, "oldString": "old", "newString": "new"}


def multiedit(path: str) -> dict[str, Any]:
    return {"filePath": path, "edits": [{"oldString": "old", "newString": "new"}]}


def apply_patch(path: str) -> dict[str, Any]:
    return {"patchText": patch(f"*** Update File: {path}", "-old", "+new")}


CHANGES = pytest.mark.parametrize("call", [write, edit, multiedit, apply_patch])


@CHANGES
async def test_feat2_fr_02_a_file_is_changed_and_clients_are_told(
    context: FakeToolContext, worktree: Path, call: Any
) -> None:
    (worktree / "f").write_text("old\n")
    await context.call("read", filePath="f")
    await context.call(call.__name__, **call("f"))
    assert (worktree / "f").read_text() == "new\n"
    assert context.files.edited == ["f"]
    (ask,) = [ask for ask in context.asks if ask.permission != "read"]
    assert (ask.permission, ask.patterns, ask.always) == ("edit", ("f",), ("*",))


@CHANGES
@pytest.mark.parametrize("path", ["../f", "/etc/f", "out/f", "link", "a/../../f", "f\0"])
async def test_feat2_nfr_01_no_file_outside_the_location_is_changed(
    context: FakeToolContext, worktree: Path, call: Any, path: str
) -> None:
    (worktree.parent / "f").write_text("old\n")
    (worktree / "out").symlink_to(worktree.parent)
    (worktree / "link").symlink_to(worktree.parent / "f")
    with pytest.raises(ToolError, match=r"outside the project|NUL"):
        await context.call(call.__name__, **call(path))
    assert (worktree.parent / "f").read_text() == "old\n"
    assert context.asks == []


@CHANGES
async def test_a_file_that_was_not_read_or_has_changed_is_kept(
    context: FakeToolContext, worktree: Path, call: Any
) -> None:
    (worktree / "f").write_text("old\n")
    with pytest.raises(ToolError, match=r"has not been read in this session\. Read it first"):
        await context.call(call.__name__, **call("f"))
    await context.know("f")
    (worktree / "f").write_text("old\nand theirs\n")
    with pytest.raises(ToolError, match=r"has changed since .* Read it again"):
        await context.call(call.__name__, **call("f"))
    assert (worktree / "f").read_text() == "old\nand theirs\n"
    assert context.asks == []


@CHANGES
async def test_what_changes_while_a_person_thinks_is_kept(
    context: FakeToolContext, worktree: Path, call: Any
) -> None:
    (worktree / "f").write_text("old\n")
    await context.know("f")
    context.on_ask = lambda ask: (worktree / "f").write_text("old\nand theirs\n") and None
    with pytest.raises(ToolError, match=r"has changed since .* Read it again"):
        await context.call(call.__name__, **call("f"))
    assert (worktree / "f").read_text() == "old\nand theirs\n"
    assert context.files.edited == []


@CHANGES
async def test_a_link_put_there_while_a_person_thinks_is_not_followed(
    context: FakeToolContext, worktree: Path, tmp_path: Path, call: Any
) -> None:
    (tmp_path / "victim").write_text("old\n")
    (worktree / "f").write_text("old\n")
    await context.know("f")

    def swap(ask: Any) -> None:
        (worktree / "f").unlink()
        (worktree / "f").symlink_to(tmp_path / "victim")

    context.on_ask = swap
    with pytest.raises(ToolError, match="became a link"):
        await context.call(call.__name__, **call("f"))
    assert (tmp_path / "victim").read_text() == "old\n"
