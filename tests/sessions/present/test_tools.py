from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from django.template.loader import render_to_string

from sessions.events.parts import PART
from sessions.models import PermissionRequest, Session
from sessions.present.changes.patches import PatchBody
from sessions.present.conversation.asks import (
    PermissionCard,
    build_card,
    permission_summary,
    permission_title,
    said_together,
)
from sessions.present.conversation.bodies import DiffBody, FileBody, OutputBody, ShellBody
from sessions.present.conversation.items import RenderContext, build_items
from sessions.present.conversation.todos import TodoView
from sessions.present.conversation.tools import build_tool_row
from sessions.present.place import Place

PLACE = Place("acme", "ses_1", "/srv/shop")
PATCH = "--- a\n+++ b\n@@ -1 +1,2 @@\n-x\n+y\n+z\n"
DIFF = {"file": "a.py", "patch": PATCH, "additions": 2, "deletions": 1}
READ = {"type": "file", "text": "a\nb", "lineStart": 3, "lineEnd": 4}


# What tools are given and say beside their output can have any shape.
FREE = (
    *("filePath", "path", "command", "content", "pattern", "patchText", "edits", "operation"),
    *("line", "query", "questions", "reason", "plan", "agent", "todos", "tool", "error"),
    *("filediff", "diff", "files", "diagnostics", "display", "output", "exit", "count"),
    *("matches", "answers", "sessionId", "totalCalls", "leftOut", "interrupted"),
)
TODOS = [
    {"content": "Look", "status": "completed", "priority": "low"},
    {"content": "Mend", "status": "whenever", "priority": "high"},
    {"content": "Rename", "status": "cancelled", "priority": "low"},
]


def part(tool: str, given: dict[str, Any], **state: Any) -> dict[str, Any]:
    full = {"status": "completed", "input": given, "metadata": {}, "output": "", **state}
    return stored("tool", tool=tool, callID="call_1", state=full)


def stored(type: str, **fields: Any) -> dict[str, Any]:
    return {"id": "prt_1", "sessionID": "ses_1", "messageID": "m", "type": type, **fields}


def test_each_tool_has_its_row_and_body(subtests: pytest.Subtests) -> None:
    cases = [
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
            part(
                "lsp",
                {"operation": "findReferences", "filePath": "/srv/shop/a.py", "line": 3},
                metadata={"count": 1},
            ),
            *("Looked up references", "a.py:3", "1 result", OutputBody),
        ),
        (
            part("lsp", {"operation": "documentSymbol", "filePath": "a.py"}, metadata={"count": 2}),
            *("Listed symbols", "a.py", "2 results", OutputBody),
        ),
        (
            part("lsp", {"operation": "workspaceSymbol", "filePath": "a", "query": "Till"}),
            *("Searched symbols", "Till", "", OutputBody),
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
            part("todowrite", {}, metadata={"todos": TODOS}),
            *("Plan updated", "1 of 2", "", TodoView),
        ),
        (
            part("todoread", {}, metadata={"todos": []}),
            *("Plan read", "0 of 0", "", TodoView),
        ),
        (
            part("plan_enter", {"reason": "It is large."}, metadata={"agent": "plan"}),
            *("Plan mode on", "It is large.", "", type(None)),
        ),
        (
            part("plan_exit", {}, output="ok", metadata={"agent": "build", "plan": "p.md"}),
            *("Plan approved", "p.md", "", OutputBody),
        ),
        (
            part("batch", {"tool_calls": []}, metadata={"totalCalls": 25, "leftOut": 3}),
            *("Batch", "25 calls", "3 not run", type(None)),
        ),
        (
            part("mystery", {"n": 1, "deep": {"a": []}}, output="said"),
            *("Mystery", "1", "", OutputBody),
        ),
    ]
    for call, verb, object_, numbers, body in cases:
        with subtests.test(call=call):
            row = build_tool_row(call, PLACE)
            assert (row.verb, row.object, row.numbers) == (verb, object_, numbers)
            assert row.state == "done"
            assert type(row.body) is body


def test_a_command_that_has_failed_is_marked_beside_its_code() -> None:
    row = build_tool_row(part("bash", {"command": "make\nx"}, metadata={"exit": 2}), PLACE)
    assert (row.object, row.numbers, row.state) == ("make", "exit 2", "error")
    assert isinstance(row.body, ShellBody)


def test_a_command_that_a_person_typed_stands_open_with_whose_it_is() -> None:
    given = {"command": "ls -la", "description": "Typed by a person"}
    typed = {**part("bash", given, metadata={"exit": 2}), "metadata": {"command": {"typed": True}}}
    row = build_tool_row(typed, PLACE, author="Ann <b>")
    assert (row.object, row.numbers, row.open) == ("ls -la", "typed by Ann <b> · exit 2", True)
    assert build_tool_row(typed, PLACE).numbers == "typed by a person · exit 2"
    assert not build_tool_row(part("bash", given), PLACE).open


def test_an_edit_counts_its_lines() -> None:
    row = build_tool_row(part("edit", {"filePath": "a"}, metadata={"filediff": DIFF}), PLACE)
    assert (row.added, row.removed) == (2, 1)


def test_several_edits_of_a_file_are_counted() -> None:
    given = {"filePath": "/srv/shop/a.py", "edits": [{}, {}]}
    row = build_tool_row(part("multiedit", given, metadata={"filediff": DIFF}), PLACE)
    assert (row.verb, row.object, row.numbers) == ("Edit", "a.py", "2 edits")
    assert (row.added, row.removed) == (2, 1)
    assert isinstance(row.body, DiffBody)


def patched(kind: str, name: str, *, patch: str = PATCH, **more: Any) -> dict[str, Any]:
    names = {"filePath": f"/srv/shop/{name}", "relativePath": name}
    return {**names, "type": kind, "patch": patch, "additions": 2, "deletions": 1, **more}


PATCHED = [
    patched("update", "a.py"),
    patched("add", "b.py"),
    patched("move", "new/c.py", filePath="/srv/shop/old/c.py", movePath="/srv/shop/new/c.py"),
    patched("delete", "d.py"),
]


def test_a_patch_shows_each_of_its_files() -> None:
    row = build_tool_row(part("apply_patch", {}, metadata={"files": PATCHED}), PLACE)
    assert (row.verb, row.object) == ("Patch", "a.py, b.py, new/c.py and 1 more")
    assert (row.added, row.removed) == (8, 4)
    assert isinstance(row.body, PatchBody)
    assert [(file.name, file.note) for file in row.body.files] == [
        ("a.py", ""),
        ("b.py", "new file"),
        ("new/c.py", "moved from old/c.py"),
        ("d.py", "deleted"),
    ]
    assert [len(file.lines) for file in row.body.files] == [3, 3, 3, 3]
    assert row.body.more == 0
    html = render_to_string(row.body_template, {"id": "prt_1", "body": row.body})
    assert 'id="diff-prt_1-0"' in html
    assert 'id="diff-prt_1-3"' in html
    assert "moved from old/c.py" in html


def test_a_long_patch_is_cut_and_shown_whole_on_demand() -> None:
    long = "--- a\n+++ b\n@@ -0,0 +1,50 @@\n" + "+x\n" * 50
    files = [patched("add", f"{n}.py", patch=long, additions=50, deletions=0) for n in range(3)]
    call = part("apply_patch", {}, metadata={"files": files})
    cut, whole = build_tool_row(call, PLACE).body, build_tool_row(call, PLACE, whole=True).body
    assert isinstance(cut, PatchBody)
    assert ([len(file.lines) for file in cut.files], cut.more) == ([50, 10, 0], 90)
    assert isinstance(whole, PatchBody)
    assert ([len(file.lines) for file in whole.files], whole.more) == ([50, 50, 50], 0)


def test_an_error_names_files_as_people_of_the_project_do() -> None:
    call = part("read", {}, status="error", error="File not found: /srv/shop/till.py")
    row = build_tool_row(call, PLACE)
    assert row.error == "File not found: till.py"
    assert isinstance(row.body, OutputBody)
    assert row.body.error == "File not found: till.py"


def test_a_call_that_could_not_be_made_counts_as_failed_and_says_why() -> None:
    row = build_tool_row(part("invalid", {"tool": "reed", "error": "No turns here."}), PLACE)
    assert (row.verb, row.object) == ("Could not call", "reed")
    assert (row.state, row.error) == ("error", "No turns here.")


def test_a_patch_that_was_not_made_says_why() -> None:
    text = "*** Begin Patch\n*** Update File: a b.py \n+*** Add File: x\n*** Delete File: c.py\n"
    given = {"patchText": text}
    row = build_tool_row(part("apply_patch", given, status="error", error="No"), PLACE)
    assert (row.object, row.error) == ("a b.py, c.py", "No")
    assert isinstance(row.body, OutputBody)


def test_no_state_of_a_call_breaks_its_row(subtests: pytest.Subtests) -> None:
    cases = [
        *("read", "bash", "edit", "write", "grep", "apply_patch", "other"),
        *("todowrite", "plan_enter", "plan_exit", "batch", "invalid", "lsp"),
    ]
    others = [
        {"status": "pending", "input": {}},
        {"status": "running", "input": {"command": 3}, "time": {"start": 0}},
        {"status": "error", "input": {}, "error": "It broke\nbadly", "time": {"start": 0}},
        {
            "status": "completed",
            "input": dict.fromkeys(FREE, 5),
            "metadata": dict.fromkeys(FREE, "text"),
            "output": "",
            "title": "",
            "time": {"start": 0, "end": 1},
        },
        {
            "status": "completed",
            "input": {key: ["text", 5] for key in FREE},
            "metadata": {key: [5, {"range": None}] for key in FREE},
            "output": "",
            "title": "",
            "time": {"start": 0, "end": 1},
        },
    ]
    for tool in cases:
        for state in others:
            with subtests.test(tool=tool, state=state):
                call = PART.validate_python(stored("tool", tool=tool, callID="call_1", state=state))
                row = build_tool_row(call.to_json(), PLACE)
                assert row.error == ("It broke" if state["status"] == "error" else "")


def test_errors_after_a_change_are_shown_by_line() -> None:
    place = {"start": {"line": 4, "character": 0}}
    found = [
        {"range": place, "severity": 1, "message": "no such name"},
        {"range": place, "severity": 2, "message": "a matter of taste"},
        {"message": "somewhere"},
    ]
    metadata = {"diagnostics": {"/srv/shop/a.py": found}}
    given = {"filePath": "/srv/shop/a.py", "content": "x\n"}
    row = build_tool_row(part("write", given, metadata=metadata), PLACE)
    assert isinstance(row.body, FileBody)
    assert row.body.problems == ["a.py:5: no such name", "a.py: somewhere"]


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
    built = build_items([(Row("msg_1", {}), rows)], RenderContext(PLACE))  # type: ignore[list-item]
    return [item.group.text if item.group else item.template for item in built]


def test_exploration_folds_over_steps_and_is_parted_by_what_is_shown() -> None:
    read = part("read", {"filePath": "a"})
    grep = part("grep", {"pattern": "a"})
    failed = part("glob", {}, status="error", error="no")
    step = stored("step-start")
    text = stored("text", text="hm", time={"start": 1, "end": 2})
    assert items(read, step, grep, read, text, failed) == [
        "2 reads, 1 search",
        "sessions/parts/_text.html",
        "1 search, 1 failed",
    ]
    running = part("read", {"filePath": "/srv/shop/b.py"}, status="running")
    assert items(read, running) == ["b.py"]


def test_synthetic_text_is_not_shown() -> None:
    assert items(stored("text", text="x", synthetic=True)) == []


def test_a_tool_of_an_mcp_server_asks_with_all_of_its_arguments() -> None:
    given = {"command": "ls", "target": "production"}
    request = PermissionRequest(
        permission="shop_run",
        patterns=["*"],
        metadata={"server": "shop", "tool": "run", "input": given},
    )
    assert permission_title(request, PLACE) == "Allow shop: run?"
    assert permission_summary(request) == "Permission: shop: run"
    said = said_together(request, PLACE).text
    assert json.loads(said) == given


def card_of(**metadata: Any) -> PermissionCard:
    permission = "bash" if "command" in metadata else "edit"
    request = PermissionRequest(
        pk="per_1",
        session_id="ses_below",
        session=Session(pk="ses_below", title="Below"),
        permission=permission,
        patterns=["a.py"],
        metadata={"filepath": "a.py", **metadata},
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        agent="build",
    )
    call: Any = stored("tool", tool="write", state={"status": "running"})
    return build_card(request, PLACE, position=1, total=1, call=call)


def added(count: int) -> str:
    lines = "".join(f"+line {number}\n" for number in range(count))
    return f"--- a.py\n+++ a.py\n@@ -0,0 +1,{count} @@\n{lines}"


@pytest.mark.parametrize(
    ("metadata", "said", "fits_wide"),
    [
        ({"command": "ls"}, "", True),
        ({"command": "x" * 300}, "", True),
        ({"command": "x" * 301}, "1 line, 301 characters", True),
        ({"command": "a\n" * 6 + "b"}, "7 lines, 13 characters", True),
        ({"command": "a\n" * 12 + "b"}, "13 lines, 25 characters", False),
        ({"command": "x" * 1_200}, "1 line, 1,200 characters", False),
        ({"diff": added(6)}, "", True),
        ({"diff": added(7)}, "Show all 7 lines", True),
        ({"diff": added(160)}, "Show all 160 lines", False),
        ({"diff": added(201)}, "Show all 201 lines", False),
    ],
)
def test_nobody_allows_what_they_do_not_know_to_be_longer(
    metadata: dict[str, str], said: str, fits_wide: bool
) -> None:
    card = card_of(**metadata)
    html = render_to_string("sessions/_permission.html", {"permission": card})
    assert said in html
    assert ("permission-cut" in html) == bool(said)
    assert ("data-fits" in html) == (bool(said) and fits_wide)
    assert ("/s/ses_below/part/prt_1/body?permission=per_1" in html) == (card.count > 200)


def test_lines_that_are_left_out_before_the_first_change_are_counted() -> None:
    patch = "--- a.py\n+++ a.py\n@@ -{0},4 +{0},4 @@\n one\n two\n three\n-old\n+new\n"
    for first, left_out in ((26, 27), (1, 2)):
        rows = card_of(diff=patch.format(first)).lines
        assert [str(row.code) for row in rows[:2]] == [f"{left_out} unmodified lines", "three"]
        assert rows[1].new == first + 2
    one = "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n one\n-old\n+new\n"
    assert [row.kind for row in card_of(diff=one).lines] == ["same", "del", "add"]


def test_a_file_that_does_not_exist_is_created() -> None:
    assert card_of(diff=added(1), exists=False).title == "Allow creating a.py?"
    assert card_of(diff=added(1), exists=True).title == "Allow editing a.py?"
    request = PermissionRequest(permission="edit", patterns=["a.py"], metadata={"exists": False})
    assert permission_summary(request) == "Permission to create a.py"
