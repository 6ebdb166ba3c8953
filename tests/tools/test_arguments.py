from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.base import Tool, ToolError
from tools.registry import all_tools

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
NAMES = sorted({name for tool in all_tools().values() for name in tool.schema()["properties"]})  # type: ignore[union-attr]
TEXT = "Input should be a valid string, got 5"


def problem(tool: str, arguments: dict[str, Any]) -> str:
    with pytest.raises(ToolError) as error:
        all_tools()[tool].parse(arguments)
    start = f"The {tool} tool was called with invalid arguments: "
    end = ". Send the call again with arguments that fit the schema of the tool."
    assert error.value.message.startswith(start)
    assert error.value.message.endswith(end)
    return error.value.message[len(start) : -len(end)]


def test_what_is_wrong_is_said_with_its_place(subtests: pytest.Subtests) -> None:
    cases = [
        ("read", {}, "filePath: missing"),
        ("read", {"file": "a"}, "filePath: missing; not known here: file"),
        ("read", {"filePath": 5}, f"filePath: {TEXT}"),
        ("read", {"filePath": "a", "offset": -1}, "offset: Input should be greater than or"),
        ("read", {"filePath": "a", "limit": 1.5}, "limit: Input should be a valid integer"),
        ("edit", {"filePath": "a", "old": "x"}, "oldString: missing; newString: missing; not"),
        ("todowrite", {"todos": [{"content": "a", "status": 5}]}, f"todos.0.status: {TEXT}"),
        ("question", {"questions": []}, "questions: List should have at least 1 item"),
        ("bash", {"command": ["ls", "x" * 500]}, "command: Input should be a valid string, got ["),
    ]
    for tool, arguments, said in cases:
        with subtests.test(said=said):
            message = problem(tool, arguments)
            assert message.startswith(said)
            assert len(message) < 300


@pytest.mark.parametrize(
    ("tool", "arguments", "name", "read"),
    [
        ("read", {"filePath": "a", "limit": "7"}, "limit", 7),
        ("read", {"filePath": "a", "limit": None}, "limit", None),
        (
            "edit",
            {"filePath": "a", "oldString": "b", "newString": "c", "replaceAll": "true"},
            "",
            1,
        ),
        ("glob", {"pattern": "*", "explanation": "why"}, "pattern", "*"),
    ],
)
def test_slips_that_leave_no_doubt_are_forgiven(
    tool: str, arguments: dict[str, Any], name: str, read: Any
) -> None:
    parsed = all_tools()[tool].parse(arguments)
    assert not name or getattr(parsed, name) == read


def test_many_problems_are_counted() -> None:
    message = problem("todowrite", {"todos": [{}] * 9})
    assert message.endswith("todos.4.content: missing; and 4 more")


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    tool=st.sampled_from(sorted(all_tools().values(), key=lambda tool: tool.name)),
    arguments=st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=8), ANY_JSON, max_size=5),
)
def test_whatever_a_model_sends_is_read_or_refused_by_the_tool(
    tool: Tool[Any], arguments: dict[str, Any]
) -> None:
    with suppress(ToolError):
        assert isinstance(tool.parse(arguments), tool.params)
