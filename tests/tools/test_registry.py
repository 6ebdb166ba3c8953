from __future__ import annotations

import asyncio
import errno
import logging
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field

from opencode_web.lib.disk import DISK_FULL
from tests.fakes import FakeToolContext
from tools.base import Params, Tool, ToolError, ToolResult
from tools.context import PermissionAsk, Suspended
from tools.errors import DiskFull, PermissionDenied, PermissionRejected
from tools.features import Features
from tools.permissions.config import parse_ruleset
from tools.permissions.defaults import AGENT_DEFAULTS, DEFAULTS
from tools.permissions.rules import Ruleset
from tools.registry import (
    all_tools,
    execute,
    offered_tools,
)

NAMES = [
    "bash",
    "edit",
    "glob",
    "grep",
    "list",
    "multiedit",
    "read",
    "skill",
    "task",
    "todoread",
    "todowrite",
    "webfetch",
    "write",
]
ASKING = ["plan_enter", "plan_exit", "question"]
SWITCHED = ["batch", "codesearch", "lsp", "review", "websearch"]


class _Item(BaseModel):
    title: str


class _Params(Params):
    items: list[_Item] = Field(description="Some items.")
    count: int | None = Field(None, ge=1, le=5)


def make_tool(result: Any) -> Tool[Any]:
    async def run(params: _Params, context: object) -> ToolResult:
        if isinstance(result, BaseException):
            raise result
        assert isinstance(result, ToolResult)
        return result

    return Tool("sample", _Params, run, "sample", "A sample.")


def test_every_tool_is_there_with_a_description_of_its_own() -> None:
    tools = all_tools()
    assert sorted(tools) == sorted([*NAMES, *ASKING, *SWITCHED, "apply_patch", "invalid"])
    assert all(len(tool.description) > 80 for tool in tools.values())
    assert len({tool.description for tool in tools.values()}) == len(tools)


def offered(ruleset: Ruleset) -> list[str]:
    tools = offered_tools(ruleset, model_id="claude-sonnet-5", features=Features())
    return [tool.name for tool in tools]


def test_invalid_is_never_offered_and_the_rest_is_sorted() -> None:
    assert offered(DEFAULTS) == NAMES


def test_only_agents_that_talk_to_people_may_ask_them(subtests: pytest.Subtests) -> None:
    for agent in sorted(AGENT_DEFAULTS):
        with subtests.test(agent=agent):
            assert ("question" in offered(DEFAULTS + AGENT_DEFAULTS[agent])) == (
                agent in ("build", "plan")
            )


def test_denied_tools_are_not_offered() -> None:
    assert offered(DEFAULTS + AGENT_DEFAULTS["explore"]) == [
        "bash",
        "glob",
        "grep",
        "list",
        "read",
        "webfetch",
    ]
    denied = DEFAULTS + parse_ruleset({"edit": "deny"})
    assert {"edit", "write"}.isdisjoint(offered(denied))
    assert offered(DEFAULTS + AGENT_DEFAULTS["title"]) == []


def test_schemas_are_plain(subtests: pytest.Subtests) -> None:
    for tool in all_tools().values():
        with subtests.test(tool=tool):
            schema = tool.schema()
            text = str(schema)
            assert schema["type"] == "object"
            assert "$ref" not in text
            assert "$defs" not in text
            assert "anyOf" not in text
            assert "'title'" not in text


def test_the_wire_names_and_bounds_are_in_the_schema() -> None:
    edit, bash = all_tools()["edit"].schema(), all_tools()["bash"].schema()
    assert set(edit["properties"]) == {"filePath", "oldString", "newString", "replaceAll"}  # type: ignore[arg-type]
    assert edit["required"] == ["filePath", "oldString", "newString"]
    assert bash["required"] == ["command"]
    timeout: Any = bash["properties"]["timeout"]  # type: ignore[index,call-overload]
    assert (timeout["type"], timeout["exclusiveMinimum"], timeout["maximum"]) == (
        "integer",
        0,
        600_000,
    )


def test_references_are_inlined_and_a_property_may_be_called_title() -> None:
    schema: Any = make_tool(None).schema()
    items = schema["properties"]["items"]
    assert items["items"]["properties"] == {"title": {"type": "string"}}
    assert items["description"] == "Some items."
    assert schema["properties"]["count"] == {"type": "integer", "minimum": 1, "maximum": 5}


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "items"),
        ({"items": "x"}, "items"),
        ({"items": [{"title": 5}]}, "items.0.title"),
        ({"items": [], "count": 0}, "count"),
    ],
)
def test_bad_arguments_name_the_first_field(arguments: Any, field: str) -> None:
    with pytest.raises(ToolError, match=f"sample tool .* invalid arguments: {field}: "):
        make_tool(None).parse(arguments)


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(ToolError, match="not valid Unicode"):
        make_tool(None).parse({"items": [{"title": "\ud800"}]})


def test_what_a_model_sends_beside_the_parameters_is_dropped() -> None:
    parsed = make_tool(None).parse({"items": [], "extra": 1, "count": None})
    assert parsed.count is None


async def test_a_result_passes_through(context: FakeToolContext) -> None:
    result = await execute(make_tool(ToolResult("t", "out", {"k": 1})), {"items": []}, context)
    assert result == ToolResult("t", "out", {"k": 1, "truncated": False})


async def test_fr_06_a_long_output_is_bounded_and_kept(context: FakeToolContext) -> None:
    whole = "".join(f"{number}\n" for number in range(3_000))
    result = await execute(make_tool(ToolResult("t", whole)), {"items": []}, context)
    assert result.metadata["truncated"] is True
    path = Path(str(result.metadata["outputPath"]))
    assert path.parent == context.output_dir
    assert path.read_text() == whole
    assert "...1000 lines truncated..." in result.output
    assert str(path) in result.output
    assert result.output.startswith("0\n1\n")
    assert len(result.output.splitlines()) < 2_010


async def test_many_bytes_are_bounded(context: FakeToolContext) -> None:
    result = await execute(make_tool(ToolResult("t", "x" * 60_000)), {"items": []}, context)
    assert "...8800 bytes truncated..." in result.output
    assert len(result.output) < 51_200 + 400


async def test_a_tool_that_bounds_itself_is_held_to_twice_the_limit(
    context: FakeToolContext,
) -> None:
    metadata: Any = {"truncated": True}
    kept = await execute(
        make_tool(ToolResult("t", "x\n" * 2_100, metadata)), {"items": []}, context
    )
    assert kept.output == "x\n" * 2_100
    cut = await execute(make_tool(ToolResult("t", "x" * 200_000, metadata)), {"items": []}, context)
    assert len(cut.output) < 2 * 51_200 + 400


async def test_an_output_that_cannot_be_kept_does_not_fail_the_call(
    context: FakeToolContext, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    context.output_dir = tmp_path / "file" / "x"
    result = await execute(make_tool(ToolResult("t", "x\n" * 3_000)), {"items": []}, context)
    assert result.metadata["truncated"] is True
    assert "outputPath" not in result.metadata
    assert "could not be kept" in result.output


async def test_characters_that_cannot_be_stored_are_replaced(context: FakeToolContext) -> None:
    hostile: Any = {"a\0": ["b\0", {"c": "\udcff"}], "n": 1}
    result = await execute(
        make_tool(ToolResult("t\0", "o\0\udcff", hostile)), {"items": []}, context
    )
    assert result.title == "t\ufffd"
    assert result.output == "o\ufffd?"
    assert result.metadata["a\ufffd"] == ["b\ufffd", {"c": "?"}]
    assert result.metadata["n"] == 1


@pytest.mark.parametrize(
    "failure",
    [ToolError("no"), PermissionDenied("no"), Suspended(), asyncio.CancelledError()],
    ids=lambda failure: type(failure).__name__,
)
async def test_these_pass_through(context: FakeToolContext, failure: BaseException) -> None:
    with pytest.raises(type(failure)):
        await execute(make_tool(failure), {"items": []}, context)


async def test_a_refusing_system_becomes_a_word_to_the_model(context: FakeToolContext) -> None:
    failure = OSError(errno.EROFS, "Read-only file system", "/x")
    with pytest.raises(ToolError, match="Read-only file system: /x") as refused:
        await execute(make_tool(failure), {"items": []}, context)
    assert refused.value.ending is None


async def test_a_full_disk_ends_the_turn(context: FakeToolContext) -> None:
    failure = OSError(errno.ENOSPC, "No space left on device", "/x")
    with pytest.raises(DiskFull) as refused:
        await execute(make_tool(failure), {"items": []}, context)
    assert refused.value.ending == DISK_FULL


async def test_our_own_fault_is_logged_and_hidden(
    context: FakeToolContext, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        caplog.at_level(logging.ERROR),
        pytest.raises(ToolError, match="fault in the server") as raised,
    ):
        await execute(make_tool(RuntimeError("inner detail")), {"items": []}, context)
    assert "inner detail" not in raised.value.message
    assert "call_test" in caplog.text
    assert "inner detail" in caplog.text


async def test_a_call_that_was_suspended_has_had_no_effect(
    context: FakeToolContext, worktree: Path
) -> None:
    (worktree / "a").write_text("old")

    def suspend(ask: PermissionAsk) -> None:
        raise Suspended

    context.on_ask = suspend
    await context.know("a")
    for name, arguments in (
        ("write", {"filePath": "new/b", "content": "x"}),
        ("edit", {"filePath": "a", "oldString": "old", "newString": "new"}),
        ("bash", {"command": "touch c"}),
        ("multiedit", {"filePath": "a", "edits": [{"oldString": "old", "newString": "new"}]}),
        ("read", {"filePath": "a"}),
    ):
        with pytest.raises(Suspended):
            await context.call(name, **arguments)
    assert sorted(path.name for path in worktree.iterdir()) == ["a"]
    assert (worktree / "a").read_text() == "old"


def test_the_words_of_a_rejection_are_those_that_clients_know() -> None:
    plain = "The user rejected permission to use this specific tool call"
    assert PermissionRejected().message == f"{plain}."
    told = PermissionRejected(feedback="use tabs")
    assert told.message == f"{plain} with the following feedback: use tabs"
    assert told.feedback == "use tabs"
