from __future__ import annotations

import json
from typing import Any

import pytest

from tests.fakes import FakeToolContext
from tools.base import ToolError
from tools.context import PermissionAsk, Suspended
from tools.todo import MAX_CONTENT_CHARS, MAX_ITEMS, Todo, read_items

ITEM = {"content": "Run the tests", "status": "in_progress", "priority": "high"}


async def test_feat2_fr_07_a_list_is_written_and_read_back(context: FakeToolContext) -> None:
    done = {"content": "Read till.py", "status": "completed", "priority": "low"}
    result = await context.call("todowrite", todos=[done, ITEM])
    assert result.title == "1 todos"
    assert json.loads(result.output) == [done, ITEM]
    assert result.metadata == {"todos": [done, ITEM], "truncated": False}
    assert context.asks == [PermissionAsk("todowrite", ("*",))]
    read = await context.call("todoread")
    assert (read.title, read.output) == (result.title, result.output)


async def test_each_call_replaces_the_whole_list(context: FakeToolContext) -> None:
    await context.call("todowrite", todos=[ITEM])
    await context.call("todowrite", todos=[{**ITEM, "content": "Else"}])
    assert [todo.content for todo in context.todos] == ["Else"]
    result = await context.call("todowrite", todos=[])
    assert (result.title, result.output, context.todos) == ("0 todos", "[]", [])


async def test_an_unwritten_list_is_empty(context: FakeToolContext) -> None:
    assert (await context.call("todoread")).output == "[]"


async def test_a_cancelled_item_counts_as_open_in_the_title(context: FakeToolContext) -> None:
    result = await context.call("todowrite", todos=[{**ITEM, "status": "cancelled"}])
    assert result.title == "1 todos"


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("Run it", Todo("Run it")),
        ({"content": " Run it "}, Todo("Run it")),
        ({"content": "x", "status": "In Progress"}, Todo("x", "in_progress")),  # type: ignore[arg-type]
        ({"content": "x", "status": "in-progress"}, Todo("x", "in_progress")),  # type: ignore[arg-type]
        ({"content": "x", "status": "done"}, Todo("x", "completed")),  # type: ignore[arg-type]
        ({"content": "x", "status": "CANCELED"}, Todo("x", "cancelled")),  # type: ignore[arg-type]
        ({"content": "x", "status": "whenever"}, Todo("x")),
        ({"content": "x", "priority": "urgent"}, Todo("x", priority="high")),  # type: ignore[arg-type]
        ({"content": "x", "priority": "p7", "id": "1"}, Todo("x")),
    ],
)
async def test_what_models_write_is_read_with_patience(
    context: FakeToolContext, given: Any, read: Todo
) -> None:
    await context.call("todowrite", todos=[given])
    assert context.todos == [read]


async def test_a_list_written_as_text_is_read_too(context: FakeToolContext) -> None:
    await context.call("todowrite", todos=json.dumps([ITEM]))
    assert [todo.content for todo in context.todos] == ["Run the tests"]
    with pytest.raises(ToolError, match="todos"):
        await context.call("todowrite", todos="[broken")


async def test_blank_items_are_left_out(context: FakeToolContext) -> None:
    await context.call("todowrite", todos=[{"content": "  "}, "x"])
    assert [todo.content for todo in context.todos] == ["x"]


@pytest.mark.parametrize(
    "todos",
    [
        ["x"] * (MAX_ITEMS + 1),
        ["x" * (MAX_CONTENT_CHARS + 1)],
        [{"status": "pending"}],
        [{"content": 5}],
        [{"content": "x", "status": 1}],
        {"content": "x"},
        None,
        [[]],
    ],
)
async def test_what_is_no_list_of_items_is_refused(context: FakeToolContext, todos: Any) -> None:
    with pytest.raises(ToolError, match="todos"):
        await context.call("todowrite", todos=todos)
    assert context.asks == []


async def test_nothing_is_written_before_somebody_allows_it(context: FakeToolContext) -> None:
    def suspend(ask: PermissionAsk) -> None:
        raise Suspended

    context.on_ask = suspend
    with pytest.raises(Suspended):
        await context.call("todowrite", todos=["x"])
    assert context.todos == []


def test_a_list_from_elsewhere_is_bounded_and_never_refused() -> None:
    hostile: list[Any] = [5, None, {"content": 7}, {"content": "x" * 9_000, "status": []}]
    found = read_items([*hostile, *({"content": str(n)} for n in range(500))])
    assert len(found) == MAX_ITEMS
    assert found[0] == Todo("x" * MAX_CONTENT_CHARS)
    assert read_items("no list") == []
