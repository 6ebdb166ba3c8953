from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import FakeSandbox, FakeToolContext
from tools.files.file_change import digest_of
from tools.formatters.spec import Formatter
from tools.formatters.table import FORMATTERS
from tools.sandbox.base import Sandbox
from tools.sandbox.select import probe, select_sandbox

# Makes words large, one blank of two, and a mark of what it may see.
PROGRAM = """
import os, pathlib, sys
mode, path = sys.argv[1], pathlib.Path(sys.argv[2])
text = path.read_text("utf-8-sig")
match mode:
    case "upper": path.write_text(text.upper())
    case "fails": sys.exit("no")
    case "removes": path.unlink()
    case "links": path.unlink(); path.symlink_to("/etc/passwd")
    case "folder": path.unlink(); path.mkdir()
    case "grows": path.write_text("x" * 11_000_000)
    case "environment": path.write_text(" ".join(sorted(os.environ)))
    case "other": pathlib.Path("other.my").write_text("planted")
"""


@pytest.fixture
def project(context: FakeToolContext, worktree: Path, tmp_path: Path) -> FakeToolContext:
    report = probe()
    assert report.ok, report.sentence
    sandbox: Sandbox = select_sandbox(
        worktree=worktree, session_dir=tmp_path / "session", network=False
    )
    context.sandbox = sandbox
    (worktree / "program.py").write_text(PROGRAM)
    context.formatters = [_formatter("upper")]
    return context


def _formatter(mode: str) -> Formatter:
    command = ("python3", "program.py", mode, "$FILE")
    return Formatter(mode, frozenset({".my"}), command, env=(("MINE", "1"),))


async def test_what_was_written_is_formatted_and_known(
    project: FakeToolContext, worktree: Path
) -> None:
    written = await project.call("write", filePath="a.my", content="one\ntwo\n")
    assert written.output == "Wrote file successfully."
    assert (worktree / "a.my").read_text() == "ONE\nTWO\n"
    assert project.files.digests["a.my"] == digest_of(b"ONE\nTWO\n")
    edited = await project.call("edit", filePath="a.my", oldString="TWO", newString="three")
    assert (worktree / "a.my").read_text() == "ONE\nTHREE\n"
    assert "-TWO\n+THREE" in edited.metadata["diff"]
    assert "three" not in edited.metadata["diff"]
    edits = [{"oldString": "ONE", "newString": "won"}]
    await project.call("multiedit", filePath="a.my", edits=edits)
    assert (worktree / "a.my").read_text() == "WON\nTHREE\n"


async def test_every_file_of_a_patch_is_formatted(project: FakeToolContext, worktree: Path) -> None:
    (worktree / "old.my").write_text("keep\nswap\n")
    (worktree / "gone.my").write_text("gone\n")
    await project.know("old.my", "gone.my")
    result = await project.call(
        "apply_patch",
        patchText="*** Begin Patch\n*** Update File: old.my\n*** Move to: moved.my\n@@\n-swap\n"
        "+swapped\n*** Add File: new.my\n+fresh\n*** Add File: plain.txt\n+plain\n"
        "*** Delete File: gone.my\n*** End Patch",
    )
    assert (worktree / "moved.my").read_text() == "KEEP\nSWAPPED\n"
    assert (worktree / "new.my").read_text() == "FRESH\n"
    assert (worktree / "plain.txt").read_text() == "plain\n"
    assert "+FRESH" in result.metadata["diff"]
    assert project.files.digests == {
        "moved.my": digest_of(b"KEEP\nSWAPPED\n"),
        "new.my": digest_of(b"FRESH\n"),
        "plain.txt": digest_of(b"plain\n"),
    }


async def test_several_formatters_work_one_after_another(
    project: FakeToolContext, worktree: Path
) -> None:
    project.formatters = [_formatter("environment"), _formatter("upper")]
    await project.call("write", filePath="a.my", content="x")
    names = (worktree / "a.my").read_text().split()
    assert {"MINE", "HOME", "PATH"} <= set(names)
    assert not [name for name in names if "SECRET" in name or "DATABASE" in name]


async def test_the_byte_order_mark_stays(project: FakeToolContext, worktree: Path) -> None:
    await project.call("write", filePath="a.my", content="\ufeffone\n")
    assert (worktree / "a.my").read_bytes() == b"\xef\xbb\xbfONE\n"
    assert project.files.digests["a.my"] == digest_of(b"\xef\xbb\xbfONE\n")


@pytest.mark.parametrize("mode", ["fails", "removes", "links", "folder", "grows", "missing"])
async def test_a_formatter_that_goes_wrong_fails_no_change(
    project: FakeToolContext, worktree: Path, mode: str
) -> None:
    project.formatters = [_formatter(mode)]
    if mode == "missing":
        project.formatters = [Formatter("none", frozenset({".my"}), ("not-there", "$FILE"))]
    result = await project.call("write", filePath="a.my", content="one\n")
    assert result.output == "Wrote file successfully."
    # It is what was written: whatever else lies there has to be read first.
    assert project.files.digests["a.my"] == digest_of(b"one\n")


async def test_a_file_that_changed_beside_it_has_to_be_read_again(
    project: FakeToolContext, worktree: Path
) -> None:
    (worktree / "other.my").write_text("mine")
    await project.know("other.my")
    project.formatters = [_formatter("other")]
    await project.call("write", filePath="a.my", content="one\n")
    with pytest.raises(Exception, match="has changed since"):
        await project.call("edit", filePath="other.my", oldString="planted", newString="x")


async def test_other_files_and_refused_sandboxes_are_left_alone(
    project: FakeToolContext, worktree: Path
) -> None:
    await project.call("write", filePath="a.txt", content="one\n")
    assert (worktree / "a.txt").read_text() == "one\n"
    project.sandbox = _Refusing(refusal="It does not run here.")
    await project.call("write", filePath="b.my", content="one\n")
    assert (worktree / "b.my").read_text() == "one\n"


class _Refusing(FakeSandbox):
    async def run(self, *args: Any, **more: Any) -> Any:
        raise AssertionError("nothing may be run")


async def test_the_genuine_ruff_of_a_project_formats(
    project: FakeToolContext, worktree: Path
) -> None:
    ruff = Path(sys.prefix, "bin/ruff")
    (worktree / ".venv/bin").mkdir(parents=True)
    shutil.copy(ruff, worktree / ".venv/bin/ruff")
    (worktree / "pyproject.toml").write_text("[tool.ruff]\n")
    project.formatters = list(FORMATTERS.values())
    await project.call("write", filePath="a.py", content="x = {  'a':1 }")
    assert (worktree / "a.py").read_text() == 'x = {"a": 1}\n'
