from __future__ import annotations

from typing import Any

import pytest

from sessions.events.types import SessionEvent
from sessions.wire_events import (
    envelope,
    needs_session,
    plain,
    stored_event_id,
    to_live_events,
    to_wire_events,
)

INFO: dict[str, Any] = {"id": "ses_1", "title": "T"}
ADDRESS = {"sessionID": "ses_1"}
UPDATED = ("session.updated", {**ADDRESS, "info": INFO})


def render(kind: str, **data: Any) -> list[tuple[str, Any]]:
    record = {"id": 7, "seq": 3, "type": kind, "data": data, "time": 1_700_000_000_000}
    return to_wire_events("ses_1", record, INFO if needs_session(record) else None)


def test_idle_comes_in_the_order_clients_expect() -> None:
    assert render("session.status", state="idle", outcome="done") == [
        ("session.status", {**ADDRESS, "status": {"type": "idle"}}),
        ("session.idle", ADDRESS),
        UPDATED,
    ]


@pytest.mark.parametrize("state", ["busy", "waiting"])
def test_waiting_for_a_person_is_busy(state: str) -> None:
    status = ("session.status", {**ADDRESS, "status": {"type": "busy"}})
    assert render("session.status", state=state) == [status]


def test_a_new_session_is_created_and_updated() -> None:
    assert render("session.created") == [("session.created", UPDATED[1]), UPDATED]


@pytest.mark.parametrize("kind", ["session.updated", "session.used"])
def test_changes_carry_the_whole_session(kind: str) -> None:
    assert render(kind) == [UPDATED]


def test_messages_and_parts() -> None:
    assert render("message.updated", info={"id": "msg_1"}) == [
        ("message.updated", {**ADDRESS, "info": {"id": "msg_1"}})
    ]
    assert render("part.updated", part={"id": "prt_1"}) == [
        ("message.part.updated", {**ADDRESS, "part": {"id": "prt_1"}, "time": 1_700_000_000_000})
    ]


def test_permissions() -> None:
    asked = {
        "id": "per_1",
        "permission": "bash",
        "patterns": ["ls"],
        "always": ["ls *"],
        "metadata": {},
    }
    assert render("permission.asked", message_id="m", call_id="c", agent="build", **asked) == [
        ("permission.asked", {**ADDRESS, **asked, "tool": {"messageID": "m", "callID": "c"}})
    ]
    (late,) = render("permission.asked", message_id="m", call_id="c", until=9, **asked)
    assert late[1]["metadata"] == {"until": 9}
    for given, told in (("once", "once"), ("cancelled", "reject"), ("expired", "reject")):
        assert render("permission.replied", id="per_1", reply=given, by_id=1) == [
            ("permission.replied", {**ADDRESS, "requestID": "per_1", "reply": told})
        ]


def test_every_stored_event_has_a_wire_form_or_is_silent_on_purpose() -> None:
    data = {
        "state": "busy",
        "info": {},
        "part": {},
        "error": {},
        "reply": "once",
        "id": "x",
        "message_id": "m",
        "part_id": "p",
        "call_id": "c",
        "permission": "bash",
        "patterns": [],
        "always": [],
        "metadata": {},
        "questions": [],
        "answers": [],
        "todos": [],
    }
    union: Any = SessionEvent
    kinds = [member.model_fields["type"].default for member in union.__origin__.__args__]
    assert len(kinds) >= 12
    silent = {kind for kind in kinds if not render(kind, **data)}
    assert silent == {
        *("input.admitted", "input.promoted", "input.changed", "inputs.reordered"),
        *("input.cancelled", "context.started", "context.updated", "context.ended"),
        *("file.reverted", "file.refused"),
    }


def test_a_wait_for_the_next_try_is_a_status_of_its_own() -> None:
    fields = {"state": "busy", "waits_for": "retry", "until": 1_700_000_020_000, "attempt": 2}
    status = {"type": "retry", "attempt": 2, "message": "Overloaded", "next": 1_700_000_020_000}
    assert render("session.status", detail="Overloaded", **fields) == [
        ("session.status", {**ADDRESS, "status": status})
    ]


def test_a_part_that_is_gone() -> None:
    assert render("part.removed", message_id="m", part_id="p") == [
        ("message.part.removed", {**ADDRESS, "messageID": "m", "partID": "p"})
    ]


def test_questions_and_what_came_of_them() -> None:
    questions = [{"question": "Which?", "header": "H", "options": []}]
    call = {"message_id": "m", "call_id": "c"}
    fields = {"id": "que_1", "questions": questions, "tool": {"messageID": "m", "callID": "c"}}
    assert render("question.asked", id="que_1", questions=questions, agent="build", **call) == [
        ("question.asked", {**ADDRESS, **fields})
    ]
    for reply in ("reject", "cancelled"):
        assert render("question.replied", id="que_1", reply=reply, answers=[]) == [
            ("question.rejected", {**ADDRESS, "requestID": "que_1"})
        ]
    assert render("question.replied", id="que_1", reply="answered", answers=[["A"]]) == [
        ("question.replied", {**ADDRESS, "requestID": "que_1", "answers": [["A"]]})
    ]


def test_what_is_not_in_the_log_is_rendered_too() -> None:
    delta = {"t": "delta", "session": "ses_1", "message": "m", "part": "p", "field": "text"}
    assert to_live_events({**delta, "offset": 5, "text": "lo"}, now_ms=9) == [
        (
            "message.part.delta",
            {**ADDRESS, "messageID": "m", "partID": "p", "field": "text", "delta": "lo"},
        )
    ]
    progress = {"t": "progress", "session": "ses_1", "part": {"id": "prt_1"}}
    assert to_live_events(progress, now_ms=9) == [
        ("message.part.updated", {**ADDRESS, "part": {"id": "prt_1"}, "time": 9})
    ]
    deleted = {"t": "deleted", "session": "ses_1", "info": INFO}
    assert to_live_events(deleted, now_ms=9) == [("session.deleted", {**ADDRESS, "info": INFO})]
    edited = {"t": "edited", "session": "ses_1", "files": {"/srv/a": "add", "/srv/b": "unlink"}}
    assert to_live_events(edited, now_ms=9) == [
        ("file.edited", {"file": "/srv/a"}),
        ("file.watcher.updated", {"file": "/srv/a", "event": "add"}),
        ("file.edited", {"file": "/srv/b"}),
        ("file.watcher.updated", {"file": "/srv/b", "event": "unlink"}),
    ]
    servers = {"t": "servers", "session": "ses_1"}
    assert to_live_events(servers, now_ms=9) == [("lsp.updated", {})]
    assert to_live_events({"t": "estimate", "session": "ses_1"}, now_ms=9) == []


def test_ids_of_stored_events_are_stable_and_distinct() -> None:
    record = {"id": 7, "seq": 3, "type": "x", "data": {}, "time": 1_700_000_000_000}
    first, second = stored_event_id(record, 0), stored_event_id(record, 1)
    assert stored_event_id(record, 0) == first
    assert first != second
    assert first.startswith("evt_")
    assert len(first) == 30


def test_frames() -> None:
    event = ("session.idle", ADDRESS)
    bare = {"id": "evt_1", "type": "session.idle", "properties": ADDRESS}
    assert plain(event, id="evt_1") == bare
    assert envelope(event, id="evt_1") == {"payload": bare}
    assert envelope(event, id="evt_1", directory="/w", project="prj") == {
        "directory": "/w",
        "project": "prj",
        "payload": bare,
    }


def test_what_is_removed_is_named() -> None:
    assert render("message.removed", message_id="msg_1", by_id=3) == [
        ("message.removed", {**ADDRESS, "messageID": "msg_1"})
    ]


def test_a_rollback_brings_the_session_as_it_is_now() -> None:
    diff = ("session.diff", {**ADDRESS, "diff": []})
    assert render("session.reverted", revert={"messageID": "msg_1"}, hidden_from=4) == [
        diff,
        UPDATED,
    ]
    assert render("session.reverted") == [diff, UPDATED]


def test_the_changes_of_a_turn_come_as_a_diff_of_the_session() -> None:
    diffs = [{"file": "a", "additions": 1, "deletions": 0, "status": "added", "patch": ""}]
    info = {"id": "msg_1", "role": "user", "summary": {"diffs": diffs}}
    assert render("message.updated", info=info) == [
        ("session.diff", {**ADDRESS, "diff": diffs}),
        ("message.updated", {**ADDRESS, "info": info}),
    ]
