from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import transaction

from opencode_web.lib.ids import new_id
from sessions.events.messages import AssistantMessage, MessagePath, MessageTime, Tokens
from sessions.events.parts import PartTime, TextPart
from sessions.events.store import append, lock_session
from sessions.events.types import MessageUpdated, PartUpdated
from sessions.models import Message, Project, Session
from teams.models import User
from tests.sessions.api.conftest import Connect
from tests.sessions.api.shapes import ERROR, check, check_message
from tests.sessions.factories import make_session


def add_answers(session: Session, count: int) -> list[str]:
    made = []
    for number in range(count):
        info = AssistantMessage(
            id=new_id("msg"),
            sessionID=session.pk,
            time=MessageTime(created=1_700_000_000_000 + number),
            parentID=new_id("msg"),
            modelID="inline",
            providerID="demo",
            mode="build",
            agent="build",
            path=MessagePath(cwd="/", root="/"),
            tokens=Tokens(),
        )
        part = TextPart(
            id=new_id("prt"),
            sessionID=session.pk,
            messageID=info.id,
            text=f"answer {number}",
            time=PartTime(start=1, end=2),
        )
        with transaction.atomic():
            append(lock_session(session.pk), [MessageUpdated(info=info), PartUpdated(part=part)])
        made.append(info.id)
    return made


def ids_of(answer: Any) -> list[str]:
    return [message["info"]["id"] for message in answer.json()]


def test_the_history_is_ascending_and_whole(
    alice: User, session: Session, connect: Connect
) -> None:
    made = add_answers(session, 5)
    answer = connect(alice).get(f"/session/{session.pk}/message")
    assert ids_of(answer) == made
    assert "X-Next-Cursor" not in answer
    for message in answer.json():
        check_message(message)
    assert answer.json()[3]["parts"][0]["text"] == "answer 3"


def test_a_limit_gives_the_newest_and_the_way_to_the_rest(
    alice: User, session: Session, connect: Connect
) -> None:
    made = add_answers(session, 5)
    client, path = connect(alice), f"/session/{session.pk}/message"
    first = client.get(path, {"limit": 2, "directory": session.project.directory})
    assert ids_of(first) == made[3:]
    link, rel = first["Link"].split("; ")
    assert rel == 'rel="next"'
    url = urlsplit(link.strip("<>"))
    assert parse_qs(url.query)["before"] == [first["X-Next-Cursor"]]
    assert parse_qs(url.query)["directory"] == [session.project.directory]
    second = client.get(f"{url.path}?{url.query}")
    assert ids_of(second) == made[1:3]
    last = client.get(path, {"limit": 2, "before": second["X-Next-Cursor"]})
    assert ids_of(last) == made[:1]
    assert "X-Next-Cursor" not in last
    assert "Link" not in last


def test_a_cursor_is_what_other_servers_give(
    alice: User, session: Session, connect: Connect
) -> None:
    made = add_answers(session, 3)
    cursor = connect(alice).get(f"/session/{session.pk}/message", {"limit": 1})["X-Next-Cursor"]
    data = json.loads(base64.urlsafe_b64decode(cursor + "=="))
    assert data == {"id": made[2], "time": 1_700_000_000_002}


def encode(data: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(data).encode()).decode()


@pytest.mark.parametrize(
    "cursor", ["x", "%%%", encode([]), encode({}), encode("id"), encode({"id": "msg_\0"})]
)
def test_a_broken_cursor_is_a_bad_request(
    cursor: str, alice: User, session: Session, connect: Connect
) -> None:
    answer = connect(alice).get(f"/session/{session.pk}/message", {"limit": 1, "before": cursor})
    assert answer.status_code == 400
    check(answer.json(), ERROR)


def test_a_cursor_of_another_session_is_a_bad_request(
    alice: User, project: Project, session: Session, connect: Connect
) -> None:
    other = make_session(alice, project)
    foreign = encode({"id": add_answers(other, 1)[0], "time": 1})
    path = f"/session/{session.pk}/message"
    assert connect(alice).get(path, {"before": foreign}).status_code == 400


def test_one_message(alice: User, project: Project, session: Session, connect: Connect) -> None:
    made = add_answers(session, 2)
    client = connect(alice)
    answer = client.get(f"/session/{session.pk}/message/{made[0]}")
    check_message(answer.json())
    assert answer.json()["info"]["id"] == made[0]
    other = make_session(alice, project)
    assert client.get(f"/session/{other.pk}/message/{made[0]}").status_code == 404


def test_the_diff_is_the_one_of_the_newest_or_the_named_prompt(
    alice: User, session: Session, connect: Connect
) -> None:
    client, path = connect(alice), f"/session/{session.pk}/diff"
    assert client.get(path).json() == []
    changes = [{"file": "a.py", "patch": "", "additions": 1, "deletions": 0}]
    for place, diffs in enumerate((changes, [])):
        data = {"summary": {"diffs": diffs}}
        Message.objects.create(
            id=f"msg_{place}", session=session, role="user", seq=100 + place, data=data
        )
    assert client.get(path).json() == []
    assert client.get(path, {"messageID": "msg_0"}).json() == changes
    assert client.get(path, {"messageID": "msg_none"}).json() == []


@pytest.mark.parametrize("count", [1, 12])
def test_queries_do_not_grow_with_the_history(
    count: int,
    alice: User,
    session: Session,
    connect: Connect,
    django_assert_num_queries: Any,
) -> None:
    add_answers(session, count)
    client = connect(alice)
    client.get("/session")
    with django_assert_num_queries(6):
        client.get(f"/session/{session.pk}/message")
    with django_assert_num_queries(6):
        client.get(f"/session/{session.pk}/message", {"limit": 5})


def test_a_long_history_is_not_asked_for_one_by_one(
    alice: User, session: Session, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions.api.messages.MAX_NAMED", 2)
    made = add_answers(session, 5)
    answer = connect(alice).get(f"/session/{session.pk}/message")
    assert ids_of(answer) == made
    assert [message["parts"][0]["text"] for message in answer.json()][-1] == "answer 4"
