from __future__ import annotations

from typing import Any

import pytest

from tests.fakes import FakeToolContext
from tools.base import ToolError
from tools.builtin.batch import NOT_INSIDE
from tools.context import InnerCall

READ = {"tool": "read", "parameters": {"filePath": "a"}}


async def test_each_call_is_handed_over_with_its_arguments(context: FakeToolContext) -> None:
    other = {"tool": "Glob", "parameters": {"pattern": "*"}}
    result = await context.call("batch", tool_calls=[READ, other])
    assert context.inner_calls == [
        InnerCall("read", {"filePath": "a"}),
        InnerCall("Glob", {"pattern": "*"}),
    ]
    assert result.title == "Batch of 2"
    assert result.output == "2 calls made. The result of each stands with it."


async def test_what_goes_beyond_25_is_not_made_and_said(context: FakeToolContext) -> None:
    result = await context.call("batch", tool_calls=[READ] * 31)
    assert len(context.inner_calls) == 25
    assert result.output.startswith("25 calls made.")
    assert "6 more than the 25" in result.output
    assert result.metadata["leftOut"] == 6


@pytest.mark.parametrize("tool", [*sorted(NOT_INSIDE), "Batch", "TASK"])
async def test_some_tools_have_to_stand_by_themselves(context: FakeToolContext, tool: str) -> None:
    await context.call("batch", tool_calls=[{"tool": tool, "parameters": {}}, READ])
    first, second = context.inner_calls
    assert first.refusal == (
        f"Not run: {tool.lower()} cannot be part of a batch. Call it by itself."
    )
    assert second.refusal == ""


@pytest.mark.parametrize("name", ["arguments", "input"])
async def test_other_names_for_the_arguments_are_understood(
    context: FakeToolContext, name: str
) -> None:
    await context.call("batch", tool_calls=[{"tool": "read", name: {"filePath": "a"}}])
    assert context.inner_calls == [InnerCall("read", {"filePath": "a"})]


@pytest.mark.parametrize(
    "calls", [[], None, "x", [{}], [{"tool": ""}], [{"tool": "read", "parameters": []}], [[]]]
)
async def test_what_is_no_list_of_calls_is_refused(context: FakeToolContext, calls: Any) -> None:
    with pytest.raises(ToolError, match="tool_calls"):
        await context.call("batch", tool_calls=calls)
    assert context.inner_calls == []
