from __future__ import annotations

import logging

import pytest

from sessions.models import Event, Project, Session
from teams.models import Scope, User
from tests.sessions.api.conftest import Connect
from tests.sessions.api.shapes import SESSION, check
from tests.sessions.factories import make_session

JSON = "application/json"


def test_a_client_writes_into_the_log_and_cannot_forge_a_line(
    alice: User, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    body = {"service": "x", "level": "warn", "message": "a\nERROR forged", "extra": {"n": 1}}
    with caplog.at_level(logging.INFO):
        assert connect(alice).post("/log", body, JSON).json() is True
    line = caplog.records[-1]
    said = '["x", "a\\nERROR forged", {"n": 1}]'
    assert (line.levelname, line.getMessage()) == (
        "WARNING",
        f"client.log user={alice.pk} said={said}",
    )
    assert connect(alice, Scope.READ).post("/log", body, JSON).status_code == 403
    assert connect(alice).post("/log", {**body, "level": "fatal"}, JSON).status_code == 400
    assert connect(alice).post("/log", {**body, "message": "x" * 3_000}, JSON).status_code == 400


def test_what_would_end_a_server_of_one_person_changes_nothing(
    alice: User, connect: Connect, session: Session
) -> None:
    client = connect(alice)
    for path in ("/instance/dispose", "/global/dispose"):
        assert client.post(path, content_type=JSON).json() is True
    upgraded = client.post("/global/upgrade", {"target": "2"}, JSON).json()
    assert (upgraded["success"], type(upgraded["error"])) == (False, str)
    assert Session.objects.get().seq == session.seq


def test_tools_are_listed_as_a_model_reads_them(
    alice: User, connect: Connect, project: Project
) -> None:
    client = connect(alice)
    names = client.get("/experimental/tool/ids").json()
    assert {"bash", "edit", "invalid", "read"} <= set(names)
    listed = client.get("/experimental/tool?provider=demo&model=inline").json()
    tools = {tool["id"]: tool for tool in listed}
    assert "filePath" in tools["read"]["parameters"]["properties"]
    assert tools["read"]["description"]
    assert "invalid" not in tools
    project.config = {"permission": {"bash": "deny"}}
    project.save()
    again = client.get("/experimental/tool?provider=demo&model=inline").json()
    assert "bash" not in {tool["id"] for tool in again}


def test_sessions_of_all_projects_are_paged_by_time(
    alice: User, connect: Connect, project: Project
) -> None:
    made = [make_session(alice, project, title=f"Number {number}") for number in range(4)]
    client = connect(alice)
    rows = client.get("/experimental/session?limit=2").json()
    assert [row["id"] for row in rows] == [made[3].pk, made[2].pk]
    check(rows[0].pop("project"), {"id": str, "name": str, "worktree": str})
    check(rows[0], SESSION)
    rows = client.get(f"/experimental/session?cursor={rows[1]['time']['updated']}").json()
    assert {row["id"] for row in rows} <= {made[0].pk, made[1].pk, made[2].pk}
    assert [row["id"] for row in client.get("/experimental/session?search=ber 2").json()] == [
        made[2].pk
    ]
    client.patch(f"/session/{made[0].pk}", {"time": {"archived": 1}}, JSON)
    assert len(client.get("/experimental/session").json()) == 3
    assert len(client.get("/experimental/session?archived=true").json()) == 4


def test_a_session_stays_in_its_folder(alice: User, connect: Connect, session: Session) -> None:
    client = connect(alice)
    path = "/experimental/control-plane/move-session"
    body = {"sessionID": session.pk, "destination": {"directory": session.directory}}
    assert client.post(path, body, JSON).status_code == 204
    body["destination"] = {"directory": "/elsewhere"}
    assert client.post(path, body, JSON).status_code == 400


def test_the_log_of_events_can_be_copied_from_any_place(
    alice: User, charlie: User, connect: Connect, session: Session
) -> None:
    client = connect(alice)
    client.patch(f"/session/{session.pk}", {"title": "Other"}, JSON)
    events = list(Event.objects.filter(session=session).order_by("seq"))
    after = {session.pk: events[0].seq}
    rows = client.post("/sync/history", after, JSON).json()
    assert [(row["seq"], row["type"]) for row in rows] == [
        (event.seq, event.type) for event in events[1:]
    ]
    assert rows[0]["aggregate_id"] == session.pk
    outsider = connect(charlie, of=charlie.memberships.get().team)
    assert outsider.post("/sync/history", {session.pk: 0}, JSON).json() == []
    assert client.post("/sync/steal", {"sessionID": session.pk}, JSON).status_code == 200
    assert client.post("/sync/replay", {"directory": "/", "events": []}, JSON).status_code == 400
    assert client.post("/sync/history", {session.pk: -1}, JSON).status_code == 400
