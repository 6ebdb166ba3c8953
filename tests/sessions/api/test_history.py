from __future__ import annotations

import pytest

from sessions.events.types import SessionStatus
from sessions.models import Message, Part, Session
from teams.models import User
from tests.sessions.api.conftest import Connect
from tests.sessions.api.shapes import SESSION, check, check_message
from tests.sessions.story import Story, tell_whole_turn, write

pytestmark = pytest.mark.django_db(transaction=True)
JSON = "application/json"


@pytest.fixture
def turns(session: Session, alice: User) -> list[Story]:
    return [tell_whole_turn(session, alice, text) for text in ("one", "two")]


def test_a_rollback_stands_in_the_session_and_leaves_the_messages_listed(
    session: Session, alice: User, turns: list[Story], connect: Connect
) -> None:
    client = connect(alice)
    body = {"messageID": turns[1].prompt_id}
    answer = client.post(f"/session/{session.pk}/revert", body, JSON)
    assert answer.status_code == 200
    check(answer.json(), SESSION)
    assert answer.json()["revert"] == body
    assert client.get(f"/session/{session.pk}").json()["revert"] == body
    assert len(client.get(f"/session/{session.pk}/message").json()) == 4
    back = client.post(f"/session/{session.pk}/unrevert", content_type=JSON)
    check(back.json(), SESSION)
    assert "revert" not in back.json()


def test_the_diff_is_that_of_the_newest_turn_that_is_shown(
    session: Session, alice: User, turns: list[Story], connect: Connect
) -> None:
    client = connect(alice)
    assert len(client.get(f"/session/{session.pk}/diff").json()) == 1
    client.post(f"/session/{session.pk}/revert", {"messageID": turns[0].prompt_id}, JSON)
    assert client.get(f"/session/{session.pk}/diff").json() == []


def test_a_busy_session_answers_as_clients_expect(
    session: Session, alice: User, turns: list[Story], connect: Connect
) -> None:
    write(session, SessionStatus(state="busy"))
    client = connect(alice)
    message = f"/session/{session.pk}/message/{turns[0].prompt_id}"
    for answer in (
        client.post(f"/session/{session.pk}/revert", {"messageID": turns[0].prompt_id}, JSON),
        client.post(f"/session/{session.pk}/unrevert", content_type=JSON),
        client.delete(message),
    ):
        assert answer.status_code == 409
        body = answer.json()
        assert (body["_tag"], body["sessionID"]) == ("SessionBusyError", session.pk)
        assert body["message"] == body["data"]["message"]


def test_messages_and_parts_are_deleted(
    session: Session, alice: User, turns: list[Story], connect: Connect
) -> None:
    client = connect(alice)
    part = Part.objects.filter(message=turns[1].message_id, type="tool").first()
    assert part is not None
    path = f"/session/{session.pk}/message/{turns[1].message_id}"
    assert client.delete(f"{path}/part/{part.pk}").json() is True
    assert client.delete(f"{path}/part/{part.pk}").status_code == 404
    assert part.pk not in [row["id"] for row in client.get(path).json()["parts"]]
    assert client.delete(path).json() is True
    assert client.get(path).status_code == 404
    assert Message.objects.filter(session=session).count() == 3


def test_a_part_is_replaced(
    session: Session, alice: User, turns: list[Story], connect: Connect
) -> None:
    part = Part.objects.filter(message=turns[1].message_id, type="text").first()
    assert part is not None
    path = f"/session/{session.pk}/message/{turns[1].message_id}/part/{part.pk}"
    body = {**part.data, "text": "Changed"}
    assert connect(alice).patch(path, body, JSON).json() == body
    wrong = connect(alice).patch(path, {**body, "text": None}, JSON)
    assert wrong.status_code == 400
    assert wrong.json()["data"]["message"] == "text: Input should be a valid string"


def test_a_fork_is_a_session_of_its_own(
    session: Session, alice: User, turns: list[Story], connect: Connect
) -> None:
    client = connect(alice)
    whole = client.post(f"/session/{session.pk}/fork", content_type=JSON).json()
    check(whole, SESSION)
    assert whole["title"] == f"{session.title} (fork #1)"
    assert "parentID" not in whole
    body = {"messageID": turns[1].prompt_id}
    part = client.post(f"/session/{session.pk}/fork", body, JSON).json()
    assert len(client.get(f"/session/{whole['id']}/message").json()) == 4
    messages = client.get(f"/session/{part['id']}/message").json()
    for row in messages:
        check_message(row)
    assert [row["info"]["role"] for row in messages] == ["user", "assistant"]
