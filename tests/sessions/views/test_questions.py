from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from sessions.models import QuestionRequest, Session
from teams.models import User
from tests.sessions.story import Story

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
ClientFor = Callable[[User | None], Client]


@pytest.fixture
def alices(client_for: ClientFor, alice: User) -> Client:
    return client_for(alice)


@pytest.fixture
def story(alice: User, session: Session) -> Story:
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    return story


@pytest.fixture
def asked(story: Story) -> QuestionRequest:
    return QuestionRequest.objects.get(pk=story.questions("Which <colour>?", "Red", "Blue"))


def at(asked: QuestionRequest) -> str:
    return f"/t/acme/s/{asked.session_id}/question/{asked.pk}"


def page(client: Client, session: Session) -> str:
    return str(client.get(f"/t/acme/s/{session.pk}").content.decode())


def test_a_question_is_asked_on_the_page_and_in_the_list(
    alices: Client, asked: QuestionRequest, session: Session
) -> None:
    html = page(alices, session)
    assert f'id="que-{asked.pk}"' in html
    assert "Which &lt;colour&gt;?" in html
    assert html.count('type="radio" name="choice0"') == 2
    assert "It is Blue." in html
    assert "Or in your own words" in html
    assert "Question: Which &lt;colour&gt;?" in html.split("Needs you")[1]


def test_several_answers_are_offered_as_boxes(
    alices: Client, story: Story, session: Session
) -> None:
    story.questions("Which ones?", "A", "B", multiple=True)
    html = page(alices, session)
    assert html.count('type="checkbox" name="choice0"') == 2
    assert "Choose any number of options." in html


@pytest.mark.parametrize("headers", [{}, HTMX])
@pytest.mark.parametrize(
    ("fields", "answers"),
    [
        ({"choice0": "1"}, [["Blue"]]),
        ({"own0": " green "}, [["green"]]),
        ({"choice0": "0", "own0": "green"}, [["green"]]),
    ],
)
def test_an_answer_is_given_with_and_without_scripts(
    alices: Client,
    asked: QuestionRequest,
    fields: dict[str, str],
    answers: list[list[str]],
    headers: dict[str, str],
) -> None:
    response = alices.post(at(asked), fields, headers=headers)
    assert response.status_code == (200 if headers else 302)
    if headers:
        assert "Alice answered" in response.content.decode()
    asked.refresh_from_db()
    assert asked.answers == answers


def test_several_choices_and_own_words_go_together(alices: Client, story: Story) -> None:
    many = QuestionRequest.objects.get(pk=story.questions("Which?", "A", "B", "C", multiple=True))
    alices.post(at(many), {"choice0": ["2", "0"], "own0": "D"})
    many.refresh_from_db()
    assert many.answers == [["A", "C", "D"]]


@pytest.mark.parametrize("fields", [{}, {"own0": " "}, {"choice0": "7"}, {"choice0": "x"}])
def test_no_answer_is_no_answer(
    alices: Client, asked: QuestionRequest, fields: dict[str, str]
) -> None:
    response = alices.post(at(asked), fields, headers=HTMX)
    assert response.status_code == 400
    assert "Choose an answer, or write one." in response.content.decode()
    asked.refresh_from_db()
    assert asked.status == "pending"


def test_a_question_is_dismissed(alices: Client, asked: QuestionRequest) -> None:
    response = alices.post(at(asked), {"dismiss": "1", "choice0": "1"}, headers=HTMX)
    assert "Alice dismissed it" in response.content.decode()
    asked.refresh_from_db()
    assert asked.status == "reject"


def test_an_answered_question_says_what_and_who(
    alices: Client, asked: QuestionRequest, session: Session, story: Story
) -> None:
    alices.post(at(asked), {"choice0": "1"})
    part = session.parts.get(type="tool")
    given = part.data["state"]["input"]
    story.done("question", given, "…", id=part.pk, answers=[["Blue"]])
    html = page(alices, session)
    assert "Answered by Alice" in html
    assert "<dt>Which &lt;colour&gt;?</dt><dd" in html
    assert f'id="que-{asked.pk}"' not in html


def test_a_question_of_another_session_is_not_found(
    alices: Client, asked: QuestionRequest, session: Session
) -> None:
    astray = at(asked).replace(session.pk, "ses_other")
    assert alices.post(astray, {"choice0": "1"}).status_code == 404
