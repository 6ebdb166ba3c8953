"""What `read` gives, sentence by sentence of the description of OpenCode 1.18.

Where it is otherwise on purpose the row says so: `ours`.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.fakes import FakeToolContext
from tools.errors import PermissionDenied, ToolError
from tools.files.name_order import name_key

CONTENT = "<content>\n{}\n</content>"
END = "(End of file - total {} lines)"


def picture(kind: str) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (2, 2)).save(file, kind)
    return file.getvalue()


def lines(first: int, last: int) -> str:
    return "\n".join(f"{number}: {number}" for number in range(first, last + 1))


TEN = "".join(f"{number}\n" for number in range(1, 11)).encode()
LONG = b"".join(b"%d\n" % number for number in range(1, 2_502))


@pytest.mark.parametrize(
    ("data", "arguments", "content"),
    [
        # offset is 1-based, 0 counts as 1, and both are numbers of lines.
        pytest.param(TEN, {}, lines(1, 10) + "\n\n" + END.format(10), id="whole"),
        pytest.param(TEN, {"offset": 1}, lines(1, 10) + "\n\n" + END.format(10), id="offset 1"),
        pytest.param(TEN, {"offset": 0}, lines(1, 10) + "\n\n" + END.format(10), id="offset 0"),
        pytest.param(TEN, {"offset": 10}, lines(10, 10) + "\n\n" + END.format(10), id="last"),
        pytest.param(
            TEN,
            {"offset": 2, "limit": 3},
            lines(2, 4) + "\n\n(Showing lines 2-4 of 10. Use offset=5 to continue.)",
            id="range",
        ),
        pytest.param(
            TEN, {"offset": 8, "limit": 3}, lines(8, 10) + "\n\n" + END.format(10), id="to the end"
        ),
        pytest.param(
            TEN,
            {"limit": 0},
            "\n\n(Showing lines 1-0 of 10. Use offset=1 to continue.)",
            id="limit 0",
        ),
        pytest.param(
            LONG,
            {},
            lines(1, 2_000) + "\n\n(Showing lines 1-2000 of 2501. Use offset=2001 to continue.)",
            id="default limit",
        ),
        # The end of a line.
        pytest.param(b"a\r\nb\rc\n", {}, "1: a\n2: b\n3: c\n\n" + END.format(3), id="line ends"),
        pytest.param(b"a", {}, "1: a\n\n" + END.format(1), id="no final newline"),
        pytest.param(b"a\n\n", {}, "1: a\n2: \n\n" + END.format(2), id="empty last line"),
        pytest.param(
            "a\u2028b".encode(), {}, "1: a\u2028b\n\n" + END.format(1), id="no line end: U+2028"
        ),
        pytest.param(b"\xef\xbb\xbfa\n", {}, "1: a\n\n" + END.format(1), id="byte order mark"),
        pytest.param(
            b"\xe4x\xf0\x9f\n", {}, "1: \ufffdx\ufffd\n\n" + END.format(1), id="invalid UTF-8"
        ),
        pytest.param(b"", {}, "\n\n" + END.format(0), id="empty"),
        pytest.param(b"", {"offset": 1}, "\n\n" + END.format(0), id="empty, offset 1"),
        # A long line is cut after 2,000 units of UTF-16.
        pytest.param(b"x" * 2_000, {}, f"1: {'x' * 2_000}\n\n" + END.format(1), id="2000"),
        pytest.param(
            b"x" * 2_001 + b"\ny",
            {},
            f"1: {'x' * 2_000}... (line truncated to 2000 chars)\n2: y\n\n" + END.format(2),
            id="2001",
        ),
        pytest.param(
            "\U0001f600".encode() * 1_000,
            {},
            "1: " + "\U0001f600" * 1_000 + "\n\n" + END.format(1),
            id="1000 pairs",
        ),
        pytest.param(
            ("x" + "\U0001f600" * 1_000).encode(),
            {},
            # ours: half a character is left out, as it could not be sent.
            f"1: x{chr(0x1F600) * 999}... (line truncated to 2000 chars)\n\n" + END.format(1),
            id="half a pair",
        ),
        pytest.param(
            b"x" * 5_000_000,
            {},
            f"1: {'x' * 2_000}... (line truncated to 2000 chars)\n\n" + END.format(1),
            id="one huge line",
        ),
    ],
)
async def test_text(
    context: FakeToolContext, worktree: Path, data: bytes, arguments: Any, content: str
) -> None:
    path = worktree / "sub" / "a.txt"
    path.parent.mkdir()
    path.write_bytes(data)
    result = await context.call("read", filePath="sub/a.txt", **arguments)
    assert result.title == "sub/a.txt"
    assert result.output == (f"<path>{path}</path>\n<type>file</type>\n{CONTENT.format(content)}")


@pytest.mark.parametrize(
    ("width", "shown"),
    # 51,200 bytes of lines with the newlines between them; numbers in front do not count.
    [(1_023, 50), (1_024, 49), (511, 100), (1_999, 25)],
)
async def test_the_cap_counts_bytes(
    context: FakeToolContext, worktree: Path, width: int, shown: int
) -> None:
    (worktree / "a").write_text((("é" * (width // 2)).ljust(width - width // 2, "x") + "\n") * 200)
    assert len((worktree / "a").read_bytes()) == 200 * (width + 1)
    result = await context.call("read", filePath="a")
    capped = f"(Output capped at 50 KB. Showing lines 1-{shown}. Use offset={shown + 1} to "
    assert f"\n\n{capped}continue.)\n</content>" in result.output
    assert result.metadata["truncated"] is True


async def test_the_cap_takes_what_fits_to_the_last_byte(
    context: FakeToolContext, worktree: Path
) -> None:
    # 49 newlines between, and lines of 1,023 bytes but for the last.
    (worktree / "a").write_text("\n".join(["x" * 1_023] * 49 + ["x" * 1_024, ""]))
    assert END.format(50) in (await context.call("read", filePath="a")).output
    (worktree / "a").write_text("\n".join(["x" * 1_023] * 49 + ["x" * 1_025, ""]))
    assert "Showing lines 1-49." in (await context.call("read", filePath="a")).output


@pytest.mark.parametrize(
    ("data", "offset", "message"),
    [
        (TEN, 11, "Offset 11 is out of range for this file (10 lines)"),
        (b"", 2, "Offset 2 is out of range for this file (0 lines)"),
        (b"a\n", 2, "Offset 2 is out of range for this file (1 lines)"),
    ],
)
async def test_an_offset_behind_the_end(
    context: FakeToolContext, worktree: Path, data: bytes, offset: int, message: str
) -> None:
    (worktree / "a").write_bytes(data)
    with pytest.raises(ToolError) as raised:
        await context.call("read", filePath="a", offset=offset)
    assert raised.value.message == message


@pytest.mark.parametrize(
    ("wanted", "near"),
    [
        ("read.py", []),
        ("Main", ["main.py", "main.rs", "mainly.md"]),  # three at the most
        ("tests.py", ["test"]),  # the other way round, too
        ("none/x", []),
        ("~", []),  # is a name, and no home
    ],
)
async def test_what_is_missing(
    context: FakeToolContext, worktree: Path, wanted: str, near: list[str]
) -> None:
    for name in ("main.py", "main.rs", "mainly.md", "remain.md", "test"):
        (worktree / name).write_text("")
    with pytest.raises(ToolError) as raised:
        await context.call("read", filePath=wanted)
    said, _, found = raised.value.message.partition("\n\nDid you mean one of these?\n")
    assert said == f"File not found: {worktree}/{wanted}"
    # ours: in the order of names; the reference has that of the folder.
    assert found.splitlines() == [f"{worktree}/{name}" for name in near]


SUFFIXES = (
    "zip tar gz exe dll so class jar war 7z doc docx xls xlsx ppt pptx odt ods odp bin dat obj o a "
    "lib wasm pyc pyo"
)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        *((f"a.{suffix}", b"") for suffix in SUFFIXES.split()),
        ("A.ZIP", b"text"),
        ("a.txt", b"text\0"),
        ("a.txt", b"x" * 4_095 + b"\0"),
        ("a.txt", b"\x01" * 31 + b"x" * 69),
        ("a.txt", b"\x08\x0e\x1f" * 11 + b"x" * 66),
        ("a.bmp", b"BM" + bytes(40)),
    ],
)
async def test_binary_files(
    context: FakeToolContext, worktree: Path, name: str, data: bytes
) -> None:
    (worktree / name).write_bytes(data)
    with pytest.raises(ToolError) as raised:
        await context.call("read", filePath=name)
    # ours: with what to do instead.
    assert raised.value.message.startswith(f"Cannot read binary file: {worktree / name}")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.txt", b"\x01" * 30 + b"x" * 70),  # exactly 30 %
        ("a.txt", b"\t\n\x0b\x0c\r" * 20),
        ("a.txt", b"x" * 4_096 + b"\0"),  # behind what is looked at
        ("a.svg", b"<svg/>"),
        ("a.bmp", b"BM text"),
        ("gz", b"text"),
        ("a.png", b"text"),  # ours: what is no picture is not sent as one
    ],
)
async def test_what_is_text(
    context: FakeToolContext, worktree: Path, name: str, data: bytes
) -> None:
    (worktree / name).write_bytes(data)
    result = await context.call("read", filePath=name)
    assert "<type>file</type>" in result.output
    assert result.attachments == ()


@pytest.mark.parametrize(
    ("name", "data", "mime"),
    [
        ("a.png", picture("PNG"), "image/png"),
        ("a.txt", picture("PNG"), "image/png"),
        ("a.zip", picture("PNG"), "image/png"),
        ("a", picture("JPEG"), "image/jpeg"),
        ("a.gif", picture("GIF"), "image/gif"),
        ("a.webp", picture("WEBP"), "image/webp"),
        ("a.pdf", b"%PDF-1.4", "application/pdf"),
        ("no-suffix", b"%PDF-1.4", "application/pdf"),
    ],
)
async def test_attachments(
    context: FakeToolContext, worktree: Path, name: str, data: bytes, mime: str
) -> None:
    (worktree / name).write_bytes(data)
    result = await context.call("read", filePath=name)
    said = "PDF read successfully" if mime == "application/pdf" else "Image read successfully"
    assert (result.output, result.metadata["preview"]) == (said, said)
    (attachment,) = result.attachments
    assert attachment.mime == mime
    assert attachment.url.startswith(f"data:{mime};base64,")


@pytest.mark.parametrize(
    ("arguments", "entries"),
    [
        ({}, ".env\n10\n9\na/\nB\nc/\n\n(6 entries)"),
        (
            {"limit": 2},
            ".env\n10\n\n(Showing 2 of 6 entries. Use 'offset' parameter to read beyond entry 3)",
        ),
        (
            {"offset": 3, "limit": 2},
            "9\na/\n\n(Showing 2 of 6 entries. Use 'offset' parameter to read beyond entry 5)",
        ),
        ({"offset": 5}, "B\nc/\n\n(6 entries)"),
        ({"offset": 50}, "\n\n(6 entries)"),
    ],
)
async def test_folders(
    context: FakeToolContext, worktree: Path, arguments: Any, entries: str
) -> None:
    folder = worktree / "sub"
    (folder / "a").mkdir(parents=True)
    (folder / "c").symlink_to("a")
    for name in ("B", "9", "10", ".env"):
        (folder / name).write_text("")
    result = await context.call("read", filePath="sub", **arguments)
    assert result.output == (
        f"<path>{folder}</path>\n<type>directory</type>\n<entries>\n{entries}\n</entries>"
    )
    display = result.metadata["display"]
    assert isinstance(display, dict)
    assert (display["type"], display["path"]) == ("directory", str(folder))
    assert (display["offset"], display["totalEntries"]) == (arguments.get("offset", 1), 6)
    assert result.metadata["truncated"] is display["truncated"] is ("limit" in arguments)


def test_names_are_sorted_as_people_do() -> None:
    ordered = ["_x", "-x", ".x", "10", "9", "a", "A", "ä", "ab", "b", "B", "Ñu", "o", "z", "Я"]
    assert sorted(sorted(ordered), key=name_key) == ordered


@pytest.mark.parametrize(
    ("path", "pattern"),
    [("a.txt", "a.txt"), ("./sub/../a.txt", "a.txt"), (".env", ".env"), ("sub", "sub")],
)
async def test_what_is_asked_for(
    context: FakeToolContext, worktree: Path, path: str, pattern: str
) -> None:
    (worktree / "sub").mkdir()
    (worktree / "a.txt").write_text("x")
    (worktree / ".env").write_text("KEY=x")

    def deny(ask: object) -> None:
        raise PermissionDenied("denied")

    context.on_ask = deny
    for wanted in (path, str(worktree / path)):
        # Permission comes first, then whether there is anything.
        with pytest.raises(PermissionDenied):
            await context.call("read", filePath=wanted)
    for ask in context.asks:
        assert (ask.permission, ask.patterns, ask.always) == ("read", (pattern,), ("*",))
        assert ask.metadata == {}


async def test_the_metadata_has_a_preview_of_twenty_lines(
    context: FakeToolContext, worktree: Path
) -> None:
    (worktree / "a").write_bytes(LONG)
    result = await context.call("read", filePath="a", offset=5, limit=100)
    assert result.metadata["preview"] == "\n".join(map(str, range(5, 25)))
    display = result.metadata["display"]
    assert isinstance(display, dict)
    assert display["text"] == "\n".join(map(str, range(5, 105)))
    assert (display["lineStart"], display["lineEnd"], display["totalLines"]) == (5, 104, 2_501)
