from __future__ import annotations

from typing import Any

import pytest

from sessions.present.bodies import DiffBody, FileBody, OutputBody, ShellBody
from sessions.present.items import Surroundings, build_items
from sessions.present.place import Place
from sessions.present.tools import build_tool_row

PLACE = Place("acme", "ses_1", "/srv/shop")
PATCH = "--- a\n+++ b\n@@ -1 +1,2 @@\n-x\n+y\n+z\n"
DIFF = {"file": "a.py", "patch": PATCH, "additions": 2, "deletions": 1}
READ = {"type": "file", "text": "a\nb", "lineStart": 3, "lineEnd": 4}


def part(tool: str, given: dict[str, Any], **state: Any) -> dict[str, Any]:
    full = {"status": "completed", "input": given, "metadata": {}, "output": "", **state}
    return {"id": "prt_1", "type": "tool", "tool": tool, "messageID": "m", "state": full}


@pytest.mark.parametrize(
    ("call", "verb", "object_", "numbers", "body"),
    [
        (
            part("read", {"filePath": "/srv/shop/a.py"}, metadata={"display": READ}),
            *("Read", "a.py", "2 lines", FileBody),
        ),
        (
            part("read", {"filePath": "a"}, metadata={"display": {**READ, "truncated": True}}),
            *("Read", "a", "lines 3 to 4", FileBody),
        ),
        (
            part("grep", {"pattern": "total"}, metadata={"matches": 1}),
            *("Searched", "total", "1 match", OutputBody),
        ),
        (
            part("glob", {"pattern": "*.py"}, metadata={"count": 2}),
            *("Found", "*.py", "2 files", OutputBody),
        ),
        (
            part("bash", {"command": "make\nx"}, metadata={"exit": 2}),
            *("Shell", "make", "exit 2", ShellBody),
        ),
        (
            part("bash", {"command": "make", "description": "Build it"}, metadata={"exit": 0}),
            *("Shell", "Build it", "", ShellBody),
        ),
        (
            part("edit", {"filePath": "a.py"}, metadata={"filediff": DIFF}),
            *("Edit", "a.py", "", DiffBody),
        ),
        (
            part("write", {"filePath": "a.py", "content": "x\n"}),
            *("Write", "a.py", "", FileBody),
        ),
        (
            part("mystery", {"n": 1, "deep": {"a": []}}, output="said"),
            *("Mystery", "1", "", OutputBody),
        ),
    ],
)
def test_each_tool_has_its_row_and_body(
    call: dict[str, Any], verb: str, object_: str, numbers: str, body: type
) -> None:
    row = build_tool_row(call, PLACE)
    assert (row.verb, row.object, row.numbers) == (verb, object_, numbers)
    assert row.state == "done"
    assert type(row.body) is body


def test_an_edit_counts_its_lines() -> None:
    row = build_tool_row(part("edit", {"filePath": "a"}, metadata={"filediff": DIFF}), PLACE)
    assert (row.added, row.removed) == (2, 1)


@pytest.mark.parametrize(
    "state",
    [
        {"status": "pending", "input": {}},
        {"status": "running", "input": {"command": 3}, "time": {"start": "soon"}},
        {"status": "error", "input": {}, "error": "It broke\nbadly"},
        {"status": "completed", "input": None, "metadata": "text", "output": 5},
        {},
    ],
)
@pytest.mark.parametrize("tool", ["read", "bash", "edit", "write", "grep", "patch", "other"])
def test_no_state_of_a_call_breaks_its_row(tool: str, state: dict[str, Any]) -> None:
    call = {"id": "prt_1", "type": "tool", "tool": tool, "state": state}
    row = build_tool_row(call, PLACE)
    assert row.error == ("It broke" if state.get("status") == "error" else "")


def test_output_names_files_as_people_of_the_project_do() -> None:
    row = build_tool_row(part("grep", {"pattern": "x"}, output="/srv/shop/src/a.py:\n 1: x"), PLACE)
    assert isinstance(row.body, OutputBody)
    assert row.body.output == "src/a.py:\n 1: x"


class Row:
    """A message or part as far as view objects look at it."""

    def __init__(self, pk: str, data: dict[str, Any]) -> None:
        self.pk, self.data = pk, data


def items(*parts: dict[str, Any]) -> list[str]:
    rows = [Row(f"prt_{n}", {**p, "id": f"prt_{n}"}) for n, p in enumerate(parts)]
    built = build_items([(Row("msg_1", {}), rows)], Surroundings(PLACE))  # type: ignore[list-item]
    return [item.group.text if item.group else item.template for item in built]


def test_exploration_folds_over_steps_and_is_parted_by_what_is_shown() -> None:
    read = part("read", {"filePath": "a"})
    grep = part("grep", {"pattern": "a"})
    failed = part("glob", {}, status="error", error="no")
    step = {"type": "step-start"}
    text = {"type": "text", "text": "hm", "time": {"start": 1, "end": 2}}
    assert items(read, step, grep, read, text, failed) == [
        "2 reads, 1 search",
        "sessions/parts/_text.html",
        "1 search, 1 failed",
    ]
    running = part("read", {"filePath": "/srv/shop/b.py"}, status="running")
    assert items(read, running) == ["b.py"]


def test_synthetic_text_is_not_shown() -> None:
    assert items({"type": "text", "text": "x", "synthetic": True}) == []
