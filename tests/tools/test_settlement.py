from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.fakes import FakeToolContext
from tools.base import ToolResult
from tools.limits import ResultLimits
from tools.settlement import settle
from tools.truncate import Keep

LINES = "".join(f"line {number}\n" for number in range(10))


def limited(context: FakeToolContext, **limits: int | bool) -> FakeToolContext:
    context.limits = ResultLimits(**limits)  # type: ignore[arg-type]
    return context


@pytest.mark.parametrize(
    ("keep", "shown"),
    [
        (Keep.HEAD, "line 0\nline 1\nline 2\nline 3\n\n...6 lines truncated...\n\nHINT"),
        (Keep.TAIL, "...6 lines truncated...\n\nHINT\n\nline 6\nline 7\nline 8\nline 9\n"),
        (Keep.BOTH, "line 0\nline 1\n\n...6 lines truncated...\n\nline 8\nline 9\n\nHINT"),
    ],
)
def test_feat2_fr_03_every_result_is_bounded_and_its_whole_is_kept(
    context: FakeToolContext, keep: Keep, shown: str
) -> None:
    limited(context, max_lines=4)
    result = settle(ToolResult("t", LINES, keep=keep), context)
    path = Path(str(result.metadata["outputPath"]))
    assert path.read_text() == LINES
    assert path.parent == context.output_dir
    hint = f"The whole output is in {path}. Search it with grep, or read it with offset and limit."
    assert result.output == shown.replace("HINT", hint)
    assert result.metadata["truncated"] is True


def test_feat2_fr_03_bytes_count_too(context: FakeToolContext) -> None:
    limited(context, max_bytes=10)
    result = settle(ToolResult("t", "é" * 50), context)
    assert result.output.startswith("ééééé\n\n...90 bytes truncated...")


def test_feat2_fr_08_what_a_tool_has_cut_itself_has_room_for_its_notes(
    context: FakeToolContext,
) -> None:
    limited(context, max_lines=8)
    result = settle(ToolResult("t", LINES, {"truncated": True}), context)
    assert (result.output, list(context.output_dir.iterdir())) == (LINES, [])


def test_whoever_may_give_work_away_is_told_so(context: FakeToolContext) -> None:
    limited(context, max_lines=4, delegates=True)
    assert "explore agent" in settle(ToolResult("t", LINES), context).output


def test_feat2_nfr_02_a_disk_that_refuses_costs_no_success(
    context: FakeToolContext, tmp_path: Path
) -> None:
    (tmp_path / "full").write_text("")
    limited(context, max_lines=4).output_dir = tmp_path / "full" / "outputs"
    result = settle(ToolResult("t", LINES), context)
    assert result.output.startswith("line 0\nline 1\nline 2\nline 3\n\n...6 lines truncated...")
    assert "could not be kept" in result.output
    assert "outputPath" not in result.metadata


async def test_feat2_fr_04_the_kept_file_is_read_searched_and_listed_by_its_path(
    context: FakeToolContext,
) -> None:
    settled = settle(ToolResult("t", LINES), limited(context, max_lines=4))
    path = str(settled.metadata["outputPath"])
    context.limits = ResultLimits()
    read, grep, listed, found = await asyncio.gather(
        context.call("read", filePath=path, offset=9),
        context.call("grep", pattern="line 7", path=path),
        context.call("list", path=str(context.output_dir)),
        context.call("glob", pattern="tool_*", path=str(context.output_dir)),
    )
    assert "9: line 8\n10: line 9" in read.output
    assert "Line 8: line 7" in grep.output
    assert path.rpartition("/")[2] in listed.output
    assert found.output == path


async def test_a_helper_reads_what_the_session_above_it_has_kept(
    context: FakeToolContext, tmp_path: Path
) -> None:
    above = tmp_path / "above"
    above.mkdir()
    (above / "tool_1").write_text("kept\n")
    context.outputs_above = [above]
    assert "1: kept" in (await context.call("read", filePath=str(above / "tool_1"))).output


async def test_smaller_limits_hold_for_tools_that_cut_themselves(
    context: FakeToolContext, worktree: Path
) -> None:
    (worktree / "long").write_text(LINES)
    limited(context, max_lines=3, max_bytes=2_000)
    read = await context.call("read", filePath="long")
    assert "3: line 2\n\n(Showing lines 1-3 of 10. Use offset=4 to continue.)" in read.output
    limited(context, max_bytes=16)
    read = await context.call("read", filePath="long")
    assert "Output capped at" in read.output or "truncated" in read.output
