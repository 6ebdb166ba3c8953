from __future__ import annotations

from pathlib import Path

import pytest

from sessions.models import QuestionRequest, Session
from teams.models import Scope, Team, User
from tests.sessions.api.conftest import Connect
from tests.sessions.api.shapes import ERROR, QUESTION, check
from tests.sessions.factories import make_project, make_session
from tests.sessions.story import Story

pytestmark = pytest.mark.django_db
JSON = "application/json"


def ask(session: Session, user: User, *, multiple: bool = False) -> str:
    story = Story(session, user)
    story.ask("hi")
    story.answer()
    return story.questions("Which colour?", "Red", "Blue", multiple=multiple)


def test_open_questions_are_listed_by_place(
    alice: User, session: Session, team: Team, tmp_path: Path, connect: Connect
) -> None:
    here = ask(session, alice, multiple=True)
    other = make_project(team, tmp_path / "other", name="other")
    there = ask(make_session(alice, other), alice)
    client = connect(alice)
    listed = client.get("/question").json()
    for item in listed:
        check(item, QUESTION)
    assert [item["id"] for item in listed] == [here, there]
    assert [item["questions"][0].get("multiple") for item in listed] == [True, None]
    narrowed = client.get(f"/question?directory={session.project.directory}").json()
    assert [item["id"] for item in narrowed] == [here]


def test_an_answer_is_taken_once(
    alice: User, bob: User, session: Session, connect: Connect
) -> None:
    path = f"/question/{ask(session, alice)}/reply"
    assert connect(bob).post(path, {"answers": [["Red"]]}, JSON).json() is True
    late = connect(alice).post(path, {"answers": [["Blue"]]}, JSON)
    assert late.status_code == 409
    check(late.json(), ERROR)
    assert "Bob" in late.json()["data"]["message"]
    assert QuestionRequest.objects.get().answers == [["Red"]]
    assert connect(alice).get("/question").json() == []


def test_a_question_is_dismissed(alice: User, session: Session, connect: Connect) -> None:
    id_ = ask(session, alice)
    assert connect(alice).post(f"/question/{id_}/reject").json() is True
    assert QuestionRequest.objects.get().status == "reject"


def test_who_may_not_answer(
    alice: User, vera: User, bob: User, charlie: User, session: Session, connect: Connect
) -> None:
    id_, body = ask(session, alice), {"answers": [["Red"]]}
    globex = charlie.memberships.get().team
    for path in (f"/question/{id_}/reply", f"/question/{id_}/reject"):
        assert connect(vera).post(path, body, JSON).status_code == 403
        assert connect(bob, Scope.READ).post(path, body, JSON).status_code == 403
        assert connect(charlie, of=globex).post(path, body, JSON).status_code == 404
        assert connect(alice).post(path.replace(id_, "que_x"), body, JSON).status_code == 404
    assert connect(charlie, of=globex).get("/question").json() == []
    assert QuestionRequest.objects.get().status == "pending"


@pytest.mark.parametrize(
    "body", [{}, {"answers": "Red"}, {"answers": ["Red"]}, {"answers": [["Red", "Blue"]]}]
)
def test_what_is_no_answer_changes_nothing(
    alice: User, session: Session, connect: Connect, body: dict[str, object]
) -> None:
    id_ = ask(session, alice)
    answer = connect(alice).post(f"/question/{id_}/reply", body, JSON)
    assert answer.status_code == 400
    check(answer.json(), ERROR)
    assert QuestionRequest.objects.get().status == "pending"
