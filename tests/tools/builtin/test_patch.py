from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fakes import FakeSandbox, FakeToolContext
from tests.tools.test_patch_format import patch
from tools.base import ToolResult
from tools.context import PermissionAsk
from tools.errors import PermissionRejected, ToolError
from tools.redaction import Redactor


async def apply(context: FakeToolContext, *lines: str) -> ToolResult:
    return await context.call("apply_patch", patchText=patch(*lines))


def tree(worktree: Path) -> dict[str, str]:
    files = (path for path in worktree.rglob("*") if path.is_file())
    return {path.relative_to(worktree).as_posix(): path.read_text() for path in files}


@pytest.fixture
async def project(context: FakeToolContext, worktree: Path) -> FakeToolContext:
    """Three files that the session has read."""
    (worktree / "src").mkdir()
    (worktree / "src/a.py").write_text("one\ntwo\nthree\n")
    (worktree / "b.sh").write_text("run\n")
    (worktree / "b.sh").chmod(0o755)
    (worktree / "c.txt").write_text("gone\n")
    await context.know("src/a.py", "b.sh", "c.txt")
    return context


async def test_the_mark_of_a_secret_is_not_written_into_a_file_that_has_one(
    project: FakeToolContext, worktree: Path
) -> None:
    project.sandbox = FakeSandbox(redactor=Redactor({"TOKEN": "hunter2"}))
    (worktree / "src/a.py").write_text("one\nkey = hunter2\nthree\n")
    await project.know("src/a.py")
    masked = ("*** Update File: src/a.py", "@@", "-three", "+three [secret TOKEN]")
    with pytest.raises(ToolError, match=r"as \[secret NAME\]"):
        await apply(project, *masked)
    await apply(project, "*** Update File: src/a.py", "@@", "-three", "+3")
    assert (worktree / "src/a.py").read_text() == "one\nkey = hunter2\n3\n"


MANY = (
    *("*** Update File: src/a.py", "@@", "-two", "+2"),
    *("*** Add File: new/d.md", "+# D"),
    *("*** Update File: b.sh", "*** Move to: bin/b.sh", "@@", "+again"),
    "*** Delete File: c.txt",
)


async def test_files_are_changed_added_moved_and_deleted_by_one_patch(
    project: FakeToolContext, worktree: Path
) -> None:
    result = await apply(project, *MANY)
    assert tree(worktree) == {
        "src/a.py": "one\n2\nthree\n",
        "new/d.md": "# D\n",
        "bin/b.sh": "run\nagain\n",
    }
    assert (worktree / "bin/b.sh").stat().st_mode & 0o777 == 0o755
    assert result.output == result.title
    assert result.output.split("\n") == [
        "Success. Updated the following files:",
        *("M src/a.py", "A new/d.md", "M bin/b.sh", "D c.txt"),
    ]
    assert set(result.metadata) == {"diff", "files", "diagnostics", "truncated"}
    assert sorted(project.files.edited) == ["b.sh", "bin/b.sh", "c.txt", "new/d.md", "src/a.py"]


async def test_it_is_asked_once_for_every_file(project: FakeToolContext, worktree: Path) -> None:
    result = await apply(project, *MANY)
    (ask,) = project.asks
    assert (ask.permission, ask.always) == ("edit", ("*",))
    assert ask.patterns == ("src/a.py", "new/d.md", "b.sh", "bin/b.sh", "c.txt")
    assert ask.metadata["filepath"] == "src/a.py, new/d.md, b.sh, c.txt"
    assert {**ask.metadata, "filepath": None} == {
        "filepath": None,
        "diff": result.metadata["diff"],
        "files": result.metadata["files"],
    }
    files = result.metadata["files"]
    assert isinstance(files, list)
    update, add, move, delete = files
    patch = update.pop("patch")
    assert update == {
        "filePath": str(worktree / "src/a.py"),
        "relativePath": "src/a.py",
        "type": "update",
        "additions": 1,
        "deletions": 1,
    }
    assert "-two\n+2\n" in patch
    assert patch in str(result.metadata["diff"])
    assert (add["type"], add["additions"], add["deletions"]) == ("add", 1, 0)
    assert (move["type"], move["relativePath"]) == ("move", "bin/b.sh")
    assert (move["filePath"], move["movePath"]) == (
        str(worktree / "b.sh"),
        str(worktree / "bin/b.sh"),
    )
    assert (delete["type"], delete["additions"], delete["deletions"]) == ("delete", 0, 1)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (["*** Update File: src/a.py", "-missing", "+x"], "src/a.py: The file does not have"),
        (["*** Add File: unread", "+x"], "has not been read in this session"),
        (["*** Add File: stale", "+x"], "stale has changed since"),
        (["*** Delete File: none"], "There is no file none"),
        (["*** Update File: none", "+x"], "There is no file none"),
        (["*** Update File: src/a.py", "*** Move to: stale"], "that file exists already"),
        (["*** Delete File: src"], "Path is a directory"),
        (["*** Add File: c.txt/x", "+x"], "is a file"),
        (["*** Delete File: ."], "is the project folder"),
        (["*** Add File: ../x", "+x"], "outside the project"),
        (["*** Update File: src/a.py", "*** Move to: /etc/x"], "outside the project"),
        (["*** Delete File: link"], "link is a link .* name the file itself, src/a"),
        (["*** Delete File: unread"], "has not been read in this session"),
        (["*** Update File: stale", "-x", "+y"], "has changed since"),
        (["*** Rename File: a"], "apply_patch verification failed: Expected"),
        ([], "apply_patch verification failed: The patch is empty"),
    ],
)
async def test_nothing_is_changed_unless_every_section_fits(
    project: FakeToolContext, worktree: Path, lines: list[str], problem: str
) -> None:
    (worktree / "unread").write_text("x\n")
    (worktree / "stale").write_text("x\n")
    await project.know("stale")
    (worktree / "stale").write_text("x\ny\n")
    (worktree / "link").symlink_to("src/a.py")
    before = tree(worktree)
    with pytest.raises(ToolError, match=problem):
        await apply(project, *(MANY if lines else ()), *lines)
    assert tree(worktree) == before
    assert project.asks == []
    assert project.files.edited == []


@pytest.mark.parametrize("text", ["", "  \n"])
async def test_a_patch_is_needed(context: FakeToolContext, text: str) -> None:
    with pytest.raises(ToolError, match="patchText is required"):
        await context.call("apply_patch", patchText=text)


async def test_two_sections_for_one_file_are_both_made(
    project: FakeToolContext, worktree: Path
) -> None:
    lines = ["*** Update File: src/a.py", "-one", "+1", "*** Update File: ./src/a.py", "-two", "+2"]
    result = await apply(project, *lines, "*** Delete File: c.txt", "*** Add File: c.txt", "+new")
    assert (worktree / "src/a.py").read_text() == "1\n2\nthree\n"
    assert (worktree / "c.txt").read_text() == "new\n"
    assert result.output.split("\n")[1:] == ["M src/a.py", "M src/a.py", "D c.txt", "A c.txt"]


async def test_what_a_patch_wrote_is_known_and_what_it_removed_is_not(
    project: FakeToolContext, worktree: Path
) -> None:
    await apply(project, *MANY)
    await apply(project, "*** Delete File: new/d.md", "*** Update File: bin/b.sh", "-run", "+go")
    (worktree / "c.txt").write_text("somebody else's\n")
    with pytest.raises(ToolError, match=r"c\.txt exists and has not been read"):
        await apply(project, "*** Delete File: c.txt")


async def test_a_rejection_changes_nothing(project: FakeToolContext, worktree: Path) -> None:
    def reject(ask: PermissionAsk) -> None:
        raise PermissionRejected

    before = tree(worktree)
    project.on_ask = reject
    with pytest.raises(PermissionRejected):
        await apply(project, *MANY)
    assert tree(worktree) == before
    assert not (worktree / "new").exists()


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("src/a.py", "src/a.py has changed since"),
        ("new/d.md", "new/d.md exists and has not been read"),
        ("bin/b.sh", "cannot be moved to bin/b.sh"),
    ],
)
async def test_what_changed_while_a_person_thinks_is_kept(
    project: FakeToolContext, worktree: Path, name: str, problem: str
) -> None:
    def change(ask: PermissionAsk) -> None:
        (worktree / name).parent.mkdir(exist_ok=True)
        (worktree / name).write_text("theirs\n")

    project.on_ask = change
    before = tree(worktree)
    with pytest.raises(ToolError, match=problem):
        await apply(project, *MANY)
    assert tree(worktree) == {**before, name: "theirs\n"}


@contextmanager
def full_disk(limit_bytes: int) -> Iterator[None]:
    """No file grows over the limit, as if there were no room for it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_what_was_written_is_put_back_when_a_later_write_fails(
    project: FakeToolContext, worktree: Path
) -> None:
    before = tree(worktree)
    large = [f"+{'x' * 1000}"] * 1000
    with full_disk(500_000), pytest.raises(ToolError) as failed:
        await apply(project, *MANY, "*** Add File: large", *large)
    assert str(failed.value) == (
        "large could not be written: File too large. The files that had been written before it "
        "were put back: nothing changed."
    )
    assert tree(worktree) == before
    assert (worktree / "b.sh").stat().st_mode & 0o777 == 0o755
    assert project.files.edited == []
    await apply(project, *MANY)


async def test_it_changes_a_file_through_a_link(project: FakeToolContext, worktree: Path) -> None:
    (worktree / "link").symlink_to("src/a.py")
    await apply(project, "*** Update File: link", "-two", "+2")
    assert (worktree / "src/a.py").read_text() == "one\n2\nthree\n"
    (ask,) = project.asks
    assert ask.patterns == ("link", "src/a.py")


async def test_the_diffs_in_its_metadata_are_bounded(
    context: FakeToolContext, worktree: Path
) -> None:
    line = f"+{'x' * 1000}"
    files = [part for n in range(5) for part in (f"*** Add File: f{n}", *[line] * 190)]
    result = await apply(context, *files)
    assert len(str(result.metadata["diff"])) < 450_000
    assert isinstance(result.metadata["files"], list)
    assert [one["additions"] for one in result.metadata["files"]] == [190] * 5
