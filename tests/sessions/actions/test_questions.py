from __future__ import annotations

import threading

import pytest
from django.db import connections

from opencode_web.lib.errors import Conflict, Invalid
from sessions.actions.permissions import reply_permission
from sessions.actions.questions import reject_question, reply_question
from sessions.models import PermissionRequest, QuestionRequest, Session
from sessions.runner.log.lease import runnable_sessions
from teams.models import AuditEntry, User
from tests.sessions.factories import session_access
from tests.sessions.projection import assert_log_equals_rows
from tests.sessions.story import Story

pytestmark = pytest.mark.django_db


@pytest.fixture
def story(alice: User, session: Session) -> Story:
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    return story


@pytest.fixture
def asked(story: Story) -> QuestionRequest:
    return QuestionRequest.objects.get(pk=story.questions("Which colour?", "Red", "Blue"))


def test_an_answer_settles_the_question_and_rings(
    asked: QuestionRequest, bob: User, session: Session
) -> None:
    assert runnable_sessions() == []
    row = reply_question(session_access(bob, session), asked, answers=[["Red"]])
    assert (row.status, row.answers, row.replied_by) == ("answered", [["Red"]], bob)
    assert [pk for pk, _ in runnable_sessions()] == [session.pk]
    entry = AuditEntry.objects.get(action="question.replied")
    # What was asked and answered is not for the audit trail.
    assert entry.data == {"request": asked.pk, "reply": "answered"}
    assert_log_equals_rows(session)


def test_the_second_answer_hears_who_was_first(
    asked: QuestionRequest, alice: User, bob: User, session: Session
) -> None:
    reply_question(session_access(bob, session), asked, answers=[["Red"]])
    with pytest.raises(Conflict, match="Bob has answered already: Red"):
        reply_question(session_access(alice, session), asked, answers=[["Blue"]])
    with pytest.raises(Conflict, match="Bob has answered already: Red"):
        reject_question(session_access(alice, session), asked)
    asked.refresh_from_db()
    assert asked.answers == [["Red"]]


def test_who_answers_a_dismissed_question_hears_that(
    asked: QuestionRequest, alice: User, bob: User, session: Session
) -> None:
    reject_question(session_access(bob, session), asked)
    with pytest.raises(Conflict, match="Bob has dismissed"):
        reply_question(session_access(alice, session), asked, answers=[["Blue"]])


def test_answers_fit_the_questions(story: Story, alice: User, session: Session) -> None:
    id_ = story.questions("Which?", "A", "B", multiple=True)
    many = QuestionRequest.objects.get(pk=id_)
    access = session_access(alice, session)
    for answers, said in (
        ([["A"], ["B"]], "more answers than questions"),
        ([["x" * 10_001]], "at most 10,000"),
        ([["A"] * 51], "Too many"),
    ):
        with pytest.raises(Invalid, match=said):
            reply_question(access, many, answers=answers)
    row = reply_question(access, many, answers=[[" A ", "", "my own\0 words"]])
    assert row.answers == [["A", "my own\ufffd words"]]


def test_one_answer_is_enough_where_one_is_wanted(
    asked: QuestionRequest, alice: User, session: Session
) -> None:
    access = session_access(alice, session)
    with pytest.raises(Invalid, match="Too many answers to: Which colour"):
        reply_question(access, asked, answers=[["Red", "Blue"]])
    assert reply_question(access, asked, answers=[]).answers == [[]]


def test_a_dismissal_closes_whatever_else_the_turn_asks(
    asked: QuestionRequest, story: Story, alice: User, session: Session
) -> None:
    other = story.questions("And?", "Yes")
    permission = story.waits("make all")
    reject_question(session_access(alice, session), asked)
    assert QuestionRequest.objects.get(pk=other).status == "reject"
    assert PermissionRequest.objects.get(pk=permission).status == "reject"
    assert_log_equals_rows(session)


def test_a_rejected_permission_closes_the_questions_of_the_turn(
    asked: QuestionRequest, story: Story, alice: User, session: Session
) -> None:
    permission = PermissionRequest.objects.get(pk=story.waits("make all"))
    reply_permission(session_access(alice, session), permission, reply="reject")
    asked.refresh_from_db()
    assert asked.status == "reject"


def test_a_rejection_with_a_word_leaves_the_questions_open(
    asked: QuestionRequest, story: Story, alice: User, session: Session
) -> None:
    permission = PermissionRequest.objects.get(pk=story.waits("make all"))
    access = session_access(alice, session)
    reply_permission(access, permission, reply="reject", message="use make test")
    asked.refresh_from_db()
    assert asked.status == "pending"


@pytest.mark.django_db(transaction=True)
def test_two_answers_at_the_same_time_have_one_winner(
    asked: QuestionRequest, alice: User, bob: User, session: Session
) -> None:
    barrier, outcomes = threading.Barrier(2), dict[str, str]()

    def reply(user: User, label: str) -> None:
        try:
            access = session_access(user, session)
            barrier.wait(25)
            reply_question(access, asked, answers=[[label]])
            outcomes[label] = "won"
        except Conflict as exc:
            outcomes[label] = exc.message
        finally:
            connections.close_all()

    threads = [
        threading.Thread(target=reply, args=pair) for pair in ((alice, "Red"), (bob, "Blue"))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(25)
    (winner,) = [label for label, said in outcomes.items() if said == "won"]
    (loser,) = [label for label in outcomes if label != winner]
    assert outcomes[loser].endswith(f"has answered already: {winner}.")
    asked.refresh_from_db()
    assert asked.answers == [[winner]]
    assert session.events.filter(type="question.replied").count() == 1
