from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fakes import FakeToolContext
from tools.errors import ToolError


def one(old: str, new: str, **more: Any) -> dict[str, Any]:
    return {"oldString": old, "newString": new, **more}


async def test_edits_are_made_one_after_the_other_and_asked_for_once(
    context: FakeToolContext, worktree: Path
) -> None:
    (worktree / "a.py").write_bytes(b"\xef\xbb\xbfa = 1\r\nb = a\r\nc = a\r\n")
    await context.know("a.py")
    edits = [one("a = 1", "x = 1\ny = 2"), one("= a", "= x", replaceAll=True), one("y = 2", "z")]
    result = await context.call("multiedit", filePath="a.py", edits=edits)
    expected = b"\xef\xbb\xbfx = 1\r\nz\r\nb = x\r\nc = x\r\n"
    assert (worktree / "a.py").read_bytes() == expected
    assert (result.title, result.output) == ("a.py", "3 edits applied successfully.")
    (ask,) = context.asks
    assert (ask.permission, ask.patterns) == ("edit", ("a.py",))
    diff = result.metadata["diff"]
    asked = {"filepath": str(worktree / "a.py"), "exists": True, "diff": diff}
    assert ask.metadata == asked
    assert set(result.metadata) == {"diff", "filediff", "diagnostics", "truncated"}
    filediff = result.metadata["filediff"]
    assert (filediff["additions"], filediff["deletions"]) == (4, 3)
    assert context.files.edited == ["a.py"]


@pytest.mark.parametrize(
    ("edits", "problem"),
    [
        ([one("a", "b"), one("missing", "x")], "Edit 2 of 2 failed, so none .* was not found"),
        ([one("a", "b"), one("a", "x")], "Edit 2 of 2 failed, so none .* was not found"),
        ([one("c", "b")], "Edit 1 of 1 failed, so none .* more than once"),
        ([one("a", "b"), one("same", "same")], "Edit 2 of 2 .* identical"),
        ([one("a", "b"), one("", "x")], "Edit 2 of 2 .* cannot be empty"),
        ([one("a", "b", filePath="other")], "Edit 1 of 1 .* names another file, other"),
        ([], "edits: .*at least 1"),
    ],
)
async def test_all_edits_are_made_or_none(
    context: FakeToolContext, worktree: Path, edits: list[dict[str, Any]], problem: str
) -> None:
    (worktree / "f").write_text("a c c\n")
    await context.know("f")
    with pytest.raises(ToolError, match=problem):
        await context.call("multiedit", filePath="f", edits=edits)
    assert (worktree / "f").read_text() == "a c c\n"
    assert context.asks == []


async def test_an_edit_may_name_the_same_file(context: FakeToolContext, worktree: Path) -> None:
    (worktree / "f").write_text("a")
    await context.know("f")
    edits = [one("a", "b", filePath="./f"), one("b", "c", filePath=str(worktree / "f"))]
    await context.call("multiedit", filePath="f", edits=edits)
    assert (worktree / "f").read_text() == "c"


async def test_the_first_edit_may_create_the_file(context: FakeToolContext, worktree: Path) -> None:
    edits = [one("", "one\ntwo\n"), one("two", "2")]
    await context.call("multiedit", filePath="new/f", edits=edits)
    assert (worktree / "new/f").read_text() == "one\n2\n"


async def test_the_file_must_have_been_read(context: FakeToolContext, worktree: Path) -> None:
    (worktree / "f").write_text("a")
    with pytest.raises(ToolError, match="has not been read"):
        await context.call("multiedit", filePath="f", edits=[one("a", "b")])
    with pytest.raises(ToolError, match="filePath is required"):
        await context.call("multiedit", filePath="", edits=[one("a", "b")])
