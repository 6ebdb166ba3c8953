"""A comment in Linear, from the delivery to the comment that answers it."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from sessions.integrations.accounts import confirm_link, make_code
from sessions.models import (
    Conversation,
    InboundDelivery,
    Integration,
    LinkedAccount,
    OutsideReply,
    Part,
    Session,
)
from teams.models import User
from tests.sessions.factories import script
from tests.sessions.integrations.conftest import reach, run
from tests.sessions.integrations.linear_board import Board, link, service_of
from tests.sessions.integrations.linear_server import BOB, MALLORY, limited, refusal
from tests.sessions.integrations.outside import SAYS
from tests.web_server import answer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]


def test_a_comment_starts_a_session_whose_answer_is_a_comment(board: Board, bob: User) -> None:
    link(board, bob)
    delivery = board.say(f"/oc {SAYS}")
    assert (delivery.state, delivery.problem, delivery.heard) == ("handled", "", {})
    session = Session.objects.get()
    assert (session.owner, session.title) == (bob, "ENG-7 The till is wrong")
    assert [*board.server.reactions.values()] == [(delivery.comment, "eyes")]
    [shown] = board.answers
    assert "Waiting for its turn" in shown
    assert f"https://agents.example.com/t/acme/s/{session.pk}" in shown
    assert "rep_" not in shown

    run(session)
    board.write()
    [shown] = board.answers
    assert shown.startswith("Tax is added in `till.py` **and** `bill.py`.")
    [kept] = [one for one in board.server.comments.values() if one["edits"]]
    assert (kept["issue"], kept["body"]) == ("ENG-7", shown)
    assert {one.state for one in OutsideReply.objects.all()} == {"done"}
    assert [*board.server.reactions.values()] == [(delivery.comment, "tada")]
    # The agent has read what the issue is about, as a stranger's words.
    parts = Part.objects.filter(message__role="user").order_by("seq", "pk")
    [about] = [one.data["text"] for one in parts if one.data.get("synthetic")]
    assert "a comment on issue ENG-7." in about
    assert "<thread_text>\nIt adds tax twice.\n</thread_text>" in about
    assert "may be a stranger" in about

    board.say(f"/oc {script([{'text': 'Only once now.'}])}")
    assert Session.objects.count() == 1
    run(session)
    board.write()
    assert [one.partition("\n")[0] for one in board.answers][1:] == ["Only once now."]


def test_only_what_is_signed_now_is_taken(board: Board, bob: User) -> None:
    link(board, bob)
    sent = board.server.says(f"/oc {SAYS}")
    for wrong in ("", "x" * 64, "ä"):
        assert board.send(sent, **{"Linear-Signature": wrong}).status_code == 401
    assert board.send(sent, secret="").status_code == 401
    for apart_s in (-61, 61):
        at = int((time.time() + apart_s) * 1000)
        assert board.send({**sent, "webhookTimestamp": at}).status_code == 401
    assert board.send({**sent, "webhookTimestamp": None}).status_code == 401
    assert not InboundDelivery.objects.exists()
    assert Integration.objects.get().refused == 7
    assert board.send(sent).status_code == 200
    assert Integration.objects.get().refused == 0
    # Without a secret anybody could sign.
    Integration.objects.update(secret="")
    assert board.send(sent, secret="").status_code == 404


@pytest.mark.parametrize(
    "changed",
    [
        {"data": {}},
        {"data": None, "type": "Issue"},
        {"data": {"issue": {"identifier": "../x"}, "userId": BOB, "id": BOB}},
        {"data": {"issue": {"identifier": "ENG-7"}, "userId": "x", "id": BOB}},
        {"data": {"issue": {"identifier": "ENG-7"}, "userId": BOB, "id": 'x") { id }'}},
        {"type": 7, "action": []},
    ],
)
def test_what_is_no_delivery_is_refused(board: Board, changed: dict[str, Any]) -> None:
    got = board.send({**board.server.says("/oc fix"), **changed})
    assert got.status_code == 400 or got.json()["state"] == "ignored"
    assert not InboundDelivery.objects.filter(state="waiting").exists()


def test_what_is_not_for_the_agent_is_left_alone(board: Board, bob: User) -> None:
    link(board, bob)
    board.server.open("OPS-7", "Of another team", "")
    says = board.server.says
    left_alone = [
        *(says(text) for text in ("Nice.", "Try /oc fix", "/ocean fix", "please\n/oc fix")),
        says("/oc fix", key="OPS-7"),
        {**says("/oc fix"), "action": "update"},
        {**says("/oc fix"), "action": "remove"},
        {**says("/oc fix"), "type": "Reaction"},
        {**says("/oc fix"), "organizationId": MALLORY},
        says("/oc fix", userId=None, externalUserId=MALLORY),
        says("/oc fix", botActor='{"type": "slack"}'),
        says("/oc fix", issue=None),
        says("/oc fix", createdAt="2026-01-01T00:00:00.000Z"),
    ]
    for sent in left_alone:
        assert board.deliver(sent).state == "ignored", sent
    assert not Session.objects.exists()
    assert board.answers == []
    assert all(one == {} for one in InboundDelivery.objects.values_list("heard", flat=True))


def test_nothing_is_done_twice_whatever_comes_again(board: Board, bob: User) -> None:
    link(board, bob)
    sent = board.server.says(f"/oc {SAYS}")
    first = board.send(sent).json()["delivery"]
    # As who replays it sends it, and as Linear does, later and under the same id.
    for again in (sent, {**sent, "webhookTimestamp": sent["webhookTimestamp"] + 1000}):
        assert board.send(again).json()["delivery"] == first
    board.work()
    assert board.send(sent).json()["state"] == "handled"
    board.work()
    assert Session.objects.count() == len(board.answers) == 1


def test_comments_in_the_wrong_order_are_each_answered_once(board: Board, bob: User) -> None:
    link(board, bob)
    texts = [f"/oc {script([{'text': text}])}" for text in ("One.", "Two.")]
    for sent in reversed([board.server.says(text) for text in texts]):
        assert board.send(sent).status_code == 200
    board.work()
    board.work()
    session = Session.objects.get()
    run(session)
    board.write()
    assert sorted(one.partition("\n")[0] for one in board.answers) == ["One.", "Two."]
    assert Conversation.objects.get().place == "linear.app/acme/eng"


@pytest.mark.parametrize("lost", ["commentCreate", "commentUpdate"])
def test_a_comment_whose_answer_is_lost_is_not_written_twice(
    board: Board, bob: User, lost: str
) -> None:
    link(board, bob)
    board.server.loses = lost
    board.say(f"/oc {SAYS}")
    problems = [OutsideReply.objects.get(kind="comment").problem]
    run(Session.objects.get())
    board.write()
    problems.append(OutsideReply.objects.get(kind="comment").problem)
    assert ["could not be reached" in one for one in problems].count(True) == 1
    board.server.loses = ""
    board.write()
    assert len(board.answers) == 1
    assert len(board.server.comments) == 2
    assert OutsideReply.objects.get(kind="comment").state == "done"


def test_a_comment_that_somebody_deletes_stays_deleted(board: Board, bob: User) -> None:
    link(board, bob)
    board.say(f"/oc {SAYS}")
    del board.server.comments[OutsideReply.objects.get(kind="comment").comment]
    run(Session.objects.get())
    board.write()
    assert (board.answers, OutsideReply.objects.get(kind="comment").state) == ([], "done")


@pytest.mark.parametrize(
    ("then", "told", "wait_s"),
    [
        (limited(600), "takes no more requests from this token for now. Try again in 10 min.", 590),
        (answer(b"", status=429, retry_after="600"), "takes no more requests", 590),
        (answer(b"<html>", status=503), "a problem of its own (503)", 0),
        (answer(b"<html>"), "is not the API of Linear", 0),
        (answer(b"", status=302, location="https://evil.test/"), "redirects", 0),
    ],
)
def test_what_may_pass_is_tried_again(
    board: Board, bob: User, then: Any, told: str, wait_s: int
) -> None:
    link(board, bob)
    board.server.then = [then, then]
    sent = board.server.says(f"/oc {SAYS}")
    delivery = board.deliver(sent)
    assert delivery.state == "waiting"
    assert told in delivery.problem
    board.server.then = []
    board.work()
    board.server.then = [then, then]
    run(Session.objects.get())
    board.write()
    reply = OutsideReply.objects.get(kind="comment")
    assert told in reply.problem
    assert (reply.next_at - reply.created_at).total_seconds() > wait_s
    board.write()
    assert OutsideReply.objects.get(kind="comment").state == "done"
    assert len(board.answers) == 1


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("AUTHENTICATION_ERROR", "does not accept the API key"),
        ("FORBIDDEN", "API key is not allowed to do this on Linear"),
        ("RATELIMITED", "takes no more requests"),
        ("INPUT_ERROR", "Linear does not take it (200). It says: It is so"),
    ],
)
def test_errors_with_the_status_of_success_are_errors(
    board: Board, bob: User, code: str, told: str
) -> None:
    link(board, bob)
    board.say(f"/oc {SAYS}")
    run(Session.objects.get())
    body = json.dumps(refusal("It is so", code)).encode()
    board.server.then = [answer(body, content_type="application/json")] * 2
    board.write()
    assert told in OutsideReply.objects.get(kind="comment").problem


def test_a_key_that_is_revoked_is_told_to_admins_until_another_one_is_pasted(
    board: Board, alice: User, bob: User
) -> None:
    link(board, bob)
    board.server.key = "played-another-key"
    delivery = board.say(f"/oc {SAYS}")
    assert delivery.state == "waiting"
    board.client.force_login(alice)
    page = board.client.get(board.page).content.decode()
    assert "does not accept the API key" in page
    assert "played-" not in page
    fields = {"path": "ENG", "command": "/oc", "token": "played-another-key"}
    assert board.client.post(board.page, fields).status_code == 302
    board.work()
    assert len(board.answers) == 1


def test_who_is_not_linked_reads_how_to_link_and_does(board: Board, bob: User) -> None:
    board.server.people[BOB]["name"] = "Bob [x](https://evil.test) @all"
    board.say(f"/oc {SAYS}")
    assert not Session.objects.exists()
    [said] = board.answers
    assert "@Bob xhttpsevil.test all, your account is not linked" in said
    assert f"[its page](https://agents.example.com{board.page})" in said
    code = make_code(reach(bob, board.project).team)
    board.say(f"/oc link {code}")
    assert "confirm there" in board.answers[-1]
    linked = LinkedAccount.objects.get()
    board.client.force_login(bob)
    assert "on linear.app/acme has posted" in board.client.get(board.page).content.decode()
    confirm_link(reach(bob, board.project).team, linked.pk)
    board.say(f"/oc {SAYS}")
    assert Session.objects.get().owner == bob


def test_a_service_account_answers_members_and_no_guests(board: Board, alice: User) -> None:
    service = service_of(board, alice)
    Integration.objects.update(account=service)
    board.server.people[BOB]["active"] = False
    board.say(f"/oc {SAYS}")
    board.say(f"/oc {SAYS}", by=MALLORY)
    assert not Session.objects.exists()
    board.server.people[BOB]["active"] = True
    board.say(f"/oc {SAYS}")
    assert Session.objects.get().owner == service


def test_a_request_that_waits_for_a_person_is_told(board: Board, bob: User) -> None:
    link(board, bob)
    call = {"tool": "bash", "input": {"command": "make test"}}
    board.say(f"/oc {script([call], [{'text': 'Green.'}])}")
    session = Session.objects.get()
    run(session)
    board.write()
    [shown] = board.answers
    assert "Waiting for somebody to answer in the session" in shown
    assert f"/s/{session.pk}" in shown
    assert "make test" not in shown
