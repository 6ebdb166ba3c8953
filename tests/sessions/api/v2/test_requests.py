from __future__ import annotations

import pytest
from django.test import Client

from sessions.models import SavedRule, Session
from teams.models import User
from tests.sessions.api.conftest import Connect
from tests.sessions.factories import make_session
from tests.sessions.story import Story

JSON = "application/json"
pytestmark = pytest.mark.django_db


@pytest.fixture
def story(session: Session, alice: User) -> Story:
    told = Story(session, alice)
    told.ask("hi")
    told.answer()
    return told


def test_a_permission_is_listed_read_and_answered(
    client: Client, session: Session, story: Story, here: str
) -> None:
    request = story.waits("ls")
    top = f"/api/session/{session.pk}/permission"
    [row] = client.get(top).json()["data"]
    assert row["id"] == request
    assert (row["action"], row["resources"]) == ("bash", ["ls"])
    assert row["source"]["type"] == "tool"
    assert client.get(f"{top}/{request}").json()["data"] == row
    listed = client.get(f"/api/permission/request?{here}").json()
    assert listed["data"] == [row]
    assert listed["location"]["directory"] == session.directory
    assert client.post(f"{top}/{request}/reply", {"reply": "always"}, JSON).status_code == 204
    assert client.get(top).json() == {"data": []}
    late = client.post(f"{top}/{request}/reply", {"reply": "once"}, JSON)
    assert (late.status_code, late.json()["_tag"]) == (409, "ConflictError")


def test_what_is_kept_is_listed_and_forgotten(
    client: Client, session: Session, story: Story, charlie: User, connect: Connect
) -> None:
    request = story.waits("ls")
    address = f"/api/session/{session.pk}/permission/{request}/reply"
    client.post(address, {"reply": "always"}, JSON)
    [rule] = client.get("/api/permission/saved").json()["data"]
    assert rule["projectID"] == session.project_id
    assert rule["action"] == "bash"
    assert client.get("/api/permission/saved?projectID=other").json() == {"data": []}
    outsider = connect(charlie, of=charlie.memberships.get().team)
    assert outsider.get("/api/permission/saved").json() == {"data": []}
    assert outsider.delete(f"/api/permission/saved/{rule['id']}").status_code == 404
    assert client.delete(f"/api/permission/saved/{rule['id']}").status_code == 204
    assert not SavedRule.objects.exists()


@pytest.mark.parametrize("rule", ["x", "0", "9" * 30])
def test_an_unknown_rule_is_not_found(client: Client, rule: str) -> None:
    assert client.delete(f"/api/permission/saved/{rule}").status_code == 404


def test_a_question_is_listed_and_answered(
    client: Client, session: Session, story: Story, here: str
) -> None:
    question = story.questions("Which colour?", "Red", "Blue")
    top = f"/api/session/{session.pk}/question"
    [row] = client.get(top).json()["data"]
    assert row["id"] == question
    assert client.get(f"/api/question/request?{here}").json()["data"] == [row]
    answer = client.post(f"{top}/{question}/reply", {"answers": [["Red"]]}, JSON)
    assert answer.status_code == 204
    assert client.get(top).json() == {"data": []}


def test_a_question_is_dismissed(client: Client, session: Session, story: Story) -> None:
    question = story.questions("Which colour?", "Red", "Blue")
    top = f"/api/session/{session.pk}/question/{question}"
    assert client.post(f"{top}/reject").status_code == 204
    assert client.post(f"{top}/reject").status_code == 409


def test_a_request_of_another_session_is_not_found(
    client: Client, session: Session, story: Story, alice: User
) -> None:
    permission, question = story.waits("ls"), story.questions("Which?", "A", "B")
    other = make_session(alice, session.project).pk
    for address, body in (
        (f"permission/{permission}/reply", {"reply": "once"}),
        (f"question/{question}/reply", {"answers": [["A"]]}),
        (f"question/{question}/reject", {}),
    ):
        answer = client.post(f"/api/session/{other}/{address}", body, JSON)
        assert answer.status_code == 404
    assert client.get(f"/api/session/{other}/permission/{permission}").status_code == 404
