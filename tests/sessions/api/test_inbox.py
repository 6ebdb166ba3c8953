from __future__ import annotations

import pytest
from django.test import Client

from opencode_web.lib.ids import new_id
from sessions.models import Session, SessionInput
from teams.models import User
from tests.sessions.api.conftest import Connect
from tests.sessions.api.shapes import ERROR, MSG, SES, check
from tests.sessions.factories import prompt

pytestmark = pytest.mark.django_db
JSON = "application/json"
ADMITTED = {
    "admittedSeq": int,
    "id": MSG,
    "sessionID": SES,
    "prompt": {"text": str, "files?": [{"uri": str, "mime": str, "name": str}], "agents?": [dict]},
    "delivery": {"steer", "queue"},
    "timeCreated": int,
    "promotedSeq?": int,
}
PERSON = {"id": int, "name": str}
INPUT = {**ADMITTED, "status": str, "revision": int, "author": PERSON, "editedBy?": PERSON}


@pytest.fixture
def client(alice: User, connect: Connect) -> Client:
    return connect(alice)


def test_a_prompt_is_admitted_without_being_run(client: Client, session: Session) -> None:
    url = f"/api/session/{session.pk}/prompt"
    id_ = new_id("msg")
    file = {"uri": "data:image/png;base64,iVBORw0KGgo=", "name": "a.png"}
    body = {
        "id": id_,
        "prompt": {"text": "hi", "files": [file], "agents": [{"name": "explore"}]},
        "delivery": "queue",
        "resume": False,
    }
    answer = client.post(url, body, JSON)
    assert answer.status_code == 200
    data = answer.json()["data"]
    check(data, ADMITTED)
    assert data["id"] == id_
    assert data["delivery"] == "queue"
    assert data["prompt"] == {
        "text": "hi",
        "files": [{**file, "mime": "image/png"}],
        "agents": [{"name": "explore"}],
    }
    # Admitted only: the session was not even woken.
    session.refresh_from_db()
    assert session.state == "idle"
    assert client.post(url, body, JSON).json() == answer.json()
    for other in ({"prompt": {"text": "other"}}, {"delivery": "steer"}):
        refused = client.post(url, {**body, **other}, JSON)
        assert refused.status_code == 409
        check(refused.json(), ERROR)
    assert SessionInput.objects.count() == 1


def test_a_steer_is_what_a_prompt_is_by_default(client: Client, session: Session) -> None:
    answer = client.post(f"/api/session/{session.pk}/prompt", {"prompt": {"text": "hi"}}, JSON)
    assert answer.json()["data"]["delivery"] == "steer"
    session.refresh_from_db()
    assert session.state == "busy"


def test_what_waits_is_listed_changed_ordered_and_removed(
    client: Client, alice: User, bob: User, session: Session
) -> None:
    one, two = (prompt(bob, session, text, delivery="queue").pk for text in ("one", "two"))
    url = f"/session/{session.pk}/input"
    listed = client.get(url).json()
    for item in listed:
        check(item, INPUT)
    assert [item["id"] for item in listed] == [one, two]
    assert listed[0]["author"] == {"id": bob.pk, "name": "Bob"}

    ordered = client.post(f"{url}/order", {"ids": [two, one]}, JSON)
    assert [item["id"] for item in ordered.json()] == [two, one]

    changed = client.patch(f"{url}/{one}", {"revision": 0, "text": "1", "delivery": "steer"}, JSON)
    check(changed.json(), INPUT)
    assert changed.json()["prompt"] == {"text": "1"}
    assert changed.json()["revision"] == 1
    assert changed.json()["editedBy"] == {"id": alice.pk, "name": "Alice"}
    assert [item["id"] for item in client.get(url).json()] == [one, two]
    late = client.patch(f"{url}/{one}", {"revision": 0, "text": "2"}, JSON)
    assert late.status_code == 409
    check(late.json(), ERROR)
    assert late.json()["data"]["revision"] == 1

    assert client.delete(f"{url}/{one}").json() is True
    assert client.delete(f"{url}/{one}").status_code == 409
    assert [item["id"] for item in client.get(url).json()] == [two]
    assert client.get(f"{url}/{one}").json()["status"] == "cancelled"


def test_what_is_not_there_or_not_whole_is_refused(client: Client, session: Session) -> None:
    url = f"/session/{session.pk}/input"
    assert client.get(f"{url}/msg_x").status_code == 404
    assert client.delete(f"{url}/msg_x").status_code == 404
    assert client.patch(f"{url}/msg_x", {"revision": 0}, JSON).status_code == 404
    assert client.patch(f"{url}/msg_x", {"text": "x"}, JSON).status_code == 400
    assert client.post(f"{url}/order", {"ids": ["msg_x"]}, JSON).status_code == 409


def test_another_member_may_order_but_not_change(
    alice: User, bob: User, session: Session, connect: Connect
) -> None:
    one, two = (prompt(alice, session, text, delivery="queue").pk for text in ("one", "two"))
    url, bobs = f"/session/{session.pk}/input", connect(bob)
    refused = bobs.patch(f"{url}/{one}", {"revision": 0, "text": "mine"}, JSON)
    assert refused.status_code == 403
    assert "Only Alice" in refused.json()["data"]["message"]
    assert bobs.delete(f"{url}/{one}").status_code == 403
    assert bobs.post(f"{url}/order", {"ids": [two, one]}, JSON).status_code == 200
