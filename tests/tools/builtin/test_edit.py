from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import FakeToolContext
from tools.errors import ToolError


async def edit(context: FakeToolContext, path: str, old: str, new: str, **more: Any) -> Any:
    if (context.worktree / path).is_file():
        await context.know(path)
    return await context.call("edit", filePath=path, oldString=old, newString=new, **more)


async def test_a_text_is_replaced_and_the_change_described(
    context: FakeToolContext, worktree: Path
) -> None:
    (worktree / "a.py").write_text("def f():\n    return 1\n")
    result = await edit(context, "a.py", "return 1", "return 2")
    assert (worktree / "a.py").read_text() == "def f():\n    return 2\n"
    assert result.title == "a.py"
    assert result.output == "Edit applied successfully."
    assert set(result.metadata) == {"diff", "filediff", "diagnostics", "truncated"}
    assert "-    return 1\n+    return 2\n" in result.metadata["diff"]
    filediff = result.metadata["filediff"]
    assert filediff["file"] == str(worktree / "a.py")
    assert (filediff["additions"], filediff["deletions"]) == (1, 1)
    (ask,) = context.asks
    assert (ask.permission, ask.patterns, ask.always) == ("edit", ("a.py",), ("*",))
    diff = result.metadata["diff"]
    asked = {"filepath": str(worktree / "a.py"), "exists": True, "diff": diff}
    assert ask.metadata == asked


async def test_indentation_is_forgiven(context: FakeToolContext, worktree: Path) -> None:
    (worktree / "a.py").write_text("if x:\n    a = 1\n    b = 2\n")
    await edit(context, "a.py", "a = 1\nb = 2", "    c = 3")
    assert (worktree / "a.py").read_text() == "if x:\n    c = 3\n"


async def test_every_occurrence_is_replaced_on_request(
    context: FakeToolContext, worktree: Path
) -> None:
    (worktree / "a").write_text("x x x")
    await edit(context, "a", "x", "y", replaceAll=True)
    assert (worktree / "a").read_text() == "y y y"


async def test_other_bytes_survive(context: FakeToolContext, worktree: Path) -> None:
    (worktree / "a").write_bytes(b"\xef\xbb\xbfcaf\xe9\r\nold\r\n")
    result = await edit(context, "a", "old\n", "new\nmore\n")
    assert (worktree / "a").read_bytes() == b"\xef\xbb\xbfcaf\xe9\r\nnew\r\nmore\r\n"
    assert "caf\ufffd" in result.metadata["diff"]


async def test_an_empty_old_text_creates_a_file(context: FakeToolContext, worktree: Path) -> None:
    await edit(context, "new/a.txt", "", "hello\n")
    assert (worktree / "new/a.txt").read_text() == "hello\n"
    with pytest.raises(ToolError, match="cannot be empty"):
        await edit(context, "new/a.txt", "", "again")


@pytest.mark.parametrize(
    ("path", "old", "new", "problem"),
    [
        ("", "a", "b", "filePath is required"),
        ("a", "same", "same", "No changes"),
        ("missing", "a", "b", "not found"),
        ("folder", "a", "b", "is a directory"),
        ("a/b", "a", "b", "is a file"),
        ("a", "absent", "b", "was not found in the file"),
        ("a", "x", "b", "more than once"),
        ("../a", "a", "b", "outside the project"),
    ],
)
async def test_errors_come_before_the_ask(
    context: FakeToolContext, worktree: Path, path: str, old: str, new: str, problem: str
) -> None:
    (worktree / "a").write_text("x and x\n")
    (worktree / "folder").mkdir()
    with pytest.raises(ToolError, match=problem):
        await edit(context, path, old, new)
    assert context.asks == []
    assert (worktree / "a").read_text() == "x and x\n"


async def test_a_file_that_was_not_read_is_not_changed(
    context: FakeToolContext, worktree: Path
) -> None:
    (worktree / "a").write_text("one\n")
    change = {"filePath": "a", "oldString": "one", "newString": "ONE"}
    with pytest.raises(ToolError, match=r"has not been read in this session\. Read it first"):
        await context.call("edit", **change)
    await context.call("read", filePath="a", limit=1)
    await context.call("edit", **change)
    assert (worktree / "a").read_text() == "ONE\n"


async def test_what_the_session_wrote_itself_it_knows(
    context: FakeToolContext, worktree: Path
) -> None:
    await context.call("edit", filePath="a", oldString="", newString="one\n")
    await context.call("edit", filePath="./a", oldString="one", newString="two")
    (worktree / "link").symlink_to("a")
    await context.call("edit", filePath="link", oldString="two", newString="three")
    assert (worktree / "a").read_text() == "three\n"
    assert (worktree / "link").is_symlink()
    assert context.files.edited == ["a", "a", "a"]


async def test_a_file_that_has_changed_since_is_not_changed(
    context: FakeToolContext, worktree: Path
) -> None:
    (worktree / "a").write_text("one\n")
    await context.know("a")
    (worktree / "a").write_text("one\nand more\n")
    with pytest.raises(ToolError, match=r"has changed since .* Read it again"):
        await context.call("edit", filePath="a", oldString="one", newString="ONE")
    assert context.asks == []
    await context.call("read", filePath="a")
    await context.call("edit", filePath="a", oldString="one", newString="ONE")
    assert (worktree / "a").read_text() == "ONE\nand more\n"


async def test_a_change_made_while_a_person_thinks_is_kept(
    context: FakeToolContext, worktree: Path
) -> None:
    (worktree / "a").write_text("one\ntwo\n")
    context.on_ask = lambda ask: (worktree / "a").write_text("ONE\ntwo\n") and None
    with pytest.raises(ToolError, match="has changed since"):
        await edit(context, "a", "two", "TWO")
    assert (worktree / "a").read_text() == "ONE\ntwo\n"
    assert context.files.edited == []


async def test_a_file_made_while_a_person_thinks_is_kept(
    context: FakeToolContext, worktree: Path
) -> None:
    context.on_ask = lambda ask: (worktree / "a").write_text("theirs") and None
    with pytest.raises(ToolError, match="has not been read"):
        await context.call("write", filePath="a", content="mine")
    assert (worktree / "a").read_text() == "theirs"


async def test_edits_of_one_answer_run_side_by_side(
    context: FakeToolContext, worktree: Path
) -> None:
    names = [f"x{number}y" for number in range(8)]
    (worktree / "a").write_text("\n".join(names))
    await context.know("a")
    calls = (
        context.call("edit", filePath="a", oldString=name, newString=name.upper()) for name in names
    )
    await asyncio.gather(*calls)
    assert (worktree / "a").read_text() == "\n".join(names).upper()


async def test_a_mark_in_the_new_text_is_written_once_and_first(
    context: FakeToolContext, worktree: Path
) -> None:
    (worktree / "a").write_bytes(b"one two")
    await edit(context, "a", "\ufefftwo", "\ufeffTWO")
    assert (worktree / "a").read_bytes() == b"\xef\xbb\xbfone TWO"


async def test_a_file_that_is_too_large_is_refused(
    context: FakeToolContext, worktree: Path
) -> None:
    (worktree / "a").write_bytes(b"x" * (10 * 1024 * 1024 + 1))
    with pytest.raises(ToolError, match="larger than"):
        await edit(context, "a", "x", "y")
