from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import FakeToolContext
from tools.context import InstructionText
from tools.errors import PermissionDenied, ToolError

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)


async def test_a_file_comes_with_numbers_and_what_clients_read(
    context: FakeToolContext, worktree: Path
) -> None:
    (worktree / "src").mkdir()
    (worktree / "src" / "a.py").write_text("one\ntwo\nthree\n")
    result = await context.call("read", filePath="src/a.py")
    path = worktree / "src" / "a.py"
    assert result.title == "src/a.py"
    assert result.output == (
        f"<path>{path}</path>\n<type>file</type>\n<content>\n"
        "1: one\n2: two\n3: three\n\n(End of file - total 3 lines)\n</content>"
    )
    assert result.metadata == {
        "preview": "one\ntwo\nthree",
        "truncated": False,
        "loaded": [],
        "display": {
            "type": "file",
            "path": str(path),
            "text": "one\ntwo\nthree",
            "lineStart": 1,
            "lineEnd": 3,
            "totalLines": 3,
            "truncated": False,
        },
    }
    (ask,) = context.asks
    assert (ask.permission, ask.patterns, ask.always) == ("read", ("src/a.py",), ("*",))
    assert ask.metadata == {}


@pytest.mark.parametrize(
    ("arguments", "shown", "footer"),
    [
        ({"offset": 3, "limit": 2}, "3: 3\n4: 4", "(Showing lines 3-4 of 10. Use offset=5 to"),
        ({"offset": 9}, "9: 9\n10: 10", "(End of file - total 10 lines)"),
        ({"offset": 0, "limit": 1}, "1: 1", "(Showing lines 1-1 of 10. Use offset=2 to"),
        ({"limit": 0}, "", "(Showing lines 1-0 of 10. Use offset=1 to continue.)"),
    ],
)
async def test_slices(
    context: FakeToolContext, worktree: Path, arguments: Any, shown: str, footer: str
) -> None:
    (worktree / "a").write_text("".join(f"{number}\n" for number in range(1, 11)))
    result = await context.call("read", filePath="a", **arguments)
    assert f"<content>\n{shown}\n\n{footer}" in result.output


async def test_a_large_file_is_capped_by_bytes(context: FakeToolContext, worktree: Path) -> None:
    (worktree / "a").write_text(("x" * 1_023 + "\n") * 100)
    result = await context.call("read", filePath="a")
    assert (
        "(Output capped at 50 KB. Showing lines 1-50. Use offset=51 to continue.)" in result.output
    )
    assert result.metadata["truncated"] is True


async def test_an_empty_file_is_fine(context: FakeToolContext, worktree: Path) -> None:
    (worktree / "a").write_text("")
    result = await context.call("read", filePath="a", offset=1)
    assert "(End of file - total 0 lines)" in result.output


async def test_an_offset_past_the_end_is_an_error(context: FakeToolContext, worktree: Path) -> None:
    (worktree / "a").write_text("x\n")
    with pytest.raises(ToolError, match=r"Offset 2 is out of range for this file \(1 lines\)"):
        await context.call("read", filePath="a", offset=2)


async def test_a_missing_file_names_similar_ones(context: FakeToolContext, worktree: Path) -> None:
    for name in ("main.py", "MAIN.txt", "other.py"):
        (worktree / name).write_text("")
    with pytest.raises(ToolError) as raised:
        await context.call("read", filePath="main")
    assert raised.value.message == (
        f"File not found: {worktree}/main\n\nDid you mean one of these?\n"
        f"{worktree}/MAIN.txt\n{worktree}/main.py"
    )
    with pytest.raises(ToolError, match=r"File not found: [^\n]*/no/such$"):
        await context.call("read", filePath="no/such")


async def test_a_folder_is_listed(context: FakeToolContext, worktree: Path, tmp_path: Path) -> None:
    (worktree / "b").mkdir()
    (worktree / "A.txt").write_text("")
    (worktree / ".env").write_text("")
    (worktree / "to-b").symlink_to("b")
    (worktree / "out").symlink_to(tmp_path)
    result = await context.call("read", filePath=".")
    assert "<entries>\n.env\nA.txt\nb/\nout\nto-b/\n\n(5 entries)\n</entries>" in result.output
    assert result.title == ""
    part = await context.call("read", filePath=".", offset=2, limit=2)
    assert "<entries>\nA.txt\nb/\n\n(Showing 2 of 5 entries. " in part.output
    assert "beyond entry 4)" in part.output
    assert part.metadata["truncated"] is True


async def test_an_image_is_attached_whatever_its_name(
    context: FakeToolContext, worktree: Path
) -> None:
    (worktree / "picture.txt").write_bytes(PNG)
    result = await context.call("read", filePath="picture.txt")
    assert result.output == "Image read successfully"
    (attachment,) = result.attachments
    assert attachment.mime == "image/png"
    assert attachment.filename == "picture.txt"
    assert base64.b64decode(attachment.url.removeprefix("data:image/png;base64,")) == PNG


async def test_a_pdf_is_attached(context: FakeToolContext, worktree: Path) -> None:
    (worktree / "a.pdf").write_bytes(b"%PDF-1.7\n...")
    result = await context.call("read", filePath="a.pdf")
    assert result.output == "PDF read successfully"
    assert result.attachments[0].mime == "application/pdf"


async def test_an_attachment_that_is_too_large_is_refused(
    context: FakeToolContext, worktree: Path
) -> None:
    (worktree / "a.png").write_bytes(PNG)
    os.truncate(worktree / "a.png", 20 * 1024 * 1024)
    with pytest.raises(ToolError, match="too large"):
        await context.call("read", filePath="a.png")


@pytest.mark.parametrize(("name", "data"), [("a.zip", b"PK"), ("a", b"x\0y")])
async def test_a_binary_file_is_refused(
    context: FakeToolContext, worktree: Path, name: str, data: bytes
) -> None:
    (worktree / name).write_bytes(data)
    with pytest.raises(ToolError, match="Cannot read binary file"):
        await context.call("read", filePath=name)


async def test_a_path_outside_is_refused_before_anyone_is_asked(
    context: FakeToolContext,
) -> None:
    with pytest.raises(ToolError, match="outside the project"):
        await context.call("read", filePath="/etc/passwd")
    assert context.asks == []


async def test_permission_comes_before_existence(context: FakeToolContext) -> None:
    def deny(ask: object) -> None:
        raise PermissionDenied("denied")

    context.on_ask = deny
    with pytest.raises(PermissionDenied):
        await context.call("read", filePath="missing")


async def test_a_kept_output_is_readable_by_its_absolute_path(context: FakeToolContext) -> None:
    kept = context.output_dir / "tool_1"
    kept.write_text("whole\n")
    result = await context.call("read", filePath=str(kept))
    assert "1: whole" in result.output
    assert result.title == str(kept)


async def test_the_arguments_are_checked(context: FakeToolContext) -> None:
    with pytest.raises(ToolError, match="filePath: missing"):
        await context.call("read", path="a")
    with pytest.raises(ToolError, match="offset: "):
        await context.call("read", filePath="a", offset=-1)


async def test_instruction_files_near_the_file_come_with_it(
    context: FakeToolContext, worktree: Path
) -> None:
    (worktree / "a.txt").write_text("text\n")
    context.instructions = [InstructionText(worktree / "AGENTS.md", "Use tabs.")]
    result = await context.call("read", filePath="a.txt")
    assert result.output.endswith("\n</content>\n\nUse tabs.")
    assert result.metadata["loaded"] == [str(worktree / "AGENTS.md")]
    assert (await context.call("read", filePath=".")).metadata["loaded"] == []


async def test_an_output_that_was_kept_long_enough_is_said_to_be_gone(
    context: FakeToolContext,
) -> None:
    with pytest.raises(ToolError, match="kept for 7 days"):
        await context.call("read", filePath=str(context.output_dir / "tool_1"))
