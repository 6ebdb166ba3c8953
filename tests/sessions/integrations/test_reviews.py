"""A review that an agent writes, from the comment that asks for it to the lines that it is on."""

from __future__ import annotations

from typing import Any

import pytest

from sessions.actions.privacy import set_private
from sessions.actions.secrets import set_secret
from sessions.forges.adapter import ForgeKind
from sessions.integrations.reviews import can_review
from sessions.models import Integration, OutsideReply, Part, Session
from teams.models import User
from tests.sessions.factories import make_session, session_access
from tests.sessions.integrations.conftest import Forge, Shop, link_account, reach, run
from tests.web_server import answer

pytestmark = [pytest.mark.deep, pytest.mark.django_db(transaction=True), pytest.mark.any_database]
ON_GITHUB = pytest.mark.parametrize("outside", ["github"], indirect=True)
COMMENTS: list[dict[str, Any]] = [
    {"path": "till.py", "line": 2, "body": "Say @why.", "suggestion": "2  # two"},
    {"path": "./till.py", "line": 2, "side": "old", "body": "This was right."},
    {"path": "bill.py", "line": 40, "body": "Look here, too."},
]


def reviewing(**more: Any) -> list[dict[str, Any]]:
    given = {"summary": "Mostly fine.", "comments": COMMENTS, "verdict": "comment", **more}
    return [{"tool": "review", "input": given}]


def ask(shop: Shop, **more: Any) -> Session:
    session = shop.ask(reviewing(**more), [{"text": "Reviewed."}], number=3, is_pull=True)
    shop.outside.write()
    return session


def test_comments_are_on_their_lines_and_others_in_the_summary(shop: Shop) -> None:
    ask(shop)
    server = shop.outside.server
    if shop.outside.kind is ForgeKind.GITLAB:
        bodies = [one["notes"][0]["body"] for one in server.parts.discussions]
        [summary] = [one["body"] for one in server.comments if one["body"].startswith("Mostly")]
    else:
        bodies = [one["body"] for one in shop.review["comments"]]
        summary = shop.review["body"]
        assert shop.review["event"] == "COMMENT"
    assert len(bodies) == 2
    assert bodies[0].startswith("Say @\u200bwhy.")
    assert "2  # two" in bodies[0]
    assert summary.startswith("Mostly fine.")
    assert "**`bill.py:40`**\n\nLook here, too." in summary
    assert "https://agents.example.com/t/acme/s/" in summary
    row = OutsideReply.objects.get(kind="review")
    assert (row.state, row.problem) == ("done", "")
    assert row.comment
    [call] = Part.objects.filter(data__tool="review")
    assert "pull request #3 will be posted" in call.data["state"]["output"]


def test_a_review_whose_answer_is_lost_is_not_written_twice(shop: Shop) -> None:
    shop.outside.server.loses_answers = True
    ask(shop)
    assert "could not be reached" in OutsideReply.objects.get(kind="review").problem
    for _ in range(3):
        shop.outside.write()
    shop.outside.server.loses_answers = False
    shop.outside.write()
    parts = shop.outside.server.parts
    assert OutsideReply.objects.get(kind="review").state == "done"
    assert (len(parts.reviews), len(parts.discussions)) == (
        (0, 2) if shop.outside.kind is ForgeKind.GITLAB else (1, 0)
    )


@ON_GITHUB
def test_a_worker_that_dies_after_the_review_writes_none_again(shop: Shop) -> None:
    ask(shop)
    # As it was claimed: nothing was noted of what the forge has said.
    OutsideReply.objects.filter(kind="review").update(state="pending", comment="", attempts=1)
    shop.outside.write()
    assert len(shop.outside.server.parts.reviews) == 1


@ON_GITHUB
def test_an_approval_is_one_only_where_the_project_lets_agents_approve(shop: Shop) -> None:
    ask(shop, verdict="approve", comments=[])
    assert shop.review["event"] == "COMMENT"
    assert "does not approve pull requests here" in shop.review["body"]
    Integration.objects.update(approves=True)
    ask(shop, verdict="approve", comments=[])
    assert shop.outside.server.parts.reviews[1]["event"] == "APPROVE"
    # A stranger's session approves nothing.
    shop.ask(reviewing(verdict="approve", comments=[]), [{"text": "Good."}], number=3, is_pull=True)
    Session.objects.update(is_read_only=True)
    shop.outside.write()
    assert shop.outside.server.parts.reviews[2]["event"] == "COMMENT"


@ON_GITHUB
def test_who_has_opened_it_cannot_ask_for_changes_and_comments(shop: Shop) -> None:
    shop.outside.server.parts.is_own = True
    ask(shop, verdict="request_changes")
    assert shop.review["event"] == "COMMENT"
    assert shop.review["body"].startswith("**Changes requested**\n\nMostly fine.")
    assert len(shop.review["comments"]) == 2


@ON_GITHUB
def test_a_pull_request_that_has_moved_has_the_comments_in_the_summary(shop: Shop) -> None:
    shop.outside.say("/oc wait", number=3, is_pull=True)
    run(Session.objects.get())
    shop.outside.server.pulls[2]["head"]["sha"] = "c" * 40
    ask(shop)
    assert shop.review["comments"] == []
    assert "has other commits" in shop.review["body"]
    assert "**`till.py:2`**" in shop.review["body"]
    assert "**`till.py:2 (before the change)`**" in shop.review["body"]


@ON_GITHUB
def test_nothing_that_commands_or_is_secret_leaves(shop: Shop, alice: User) -> None:
    set_secret(reach(alice, shop.outside.project), name="KEY", value="hunter2-hunter2")
    said = [
        {"path": "till.py", "line": 2, "body": "A", "suggestion": "key = 'hunter2-hunter2'"},
        {"path": "till.py", "line": 2, "body": "B", "suggestion": "/merge"},
        {"path": "till.py", "line": 2, "body": "C", "suggestion": "@dependabot merge"},
        {"path": "till.py", "line": 2, "body": "/close D", "suggestion": "@property"},
    ]
    ask(shop, comments=said, summary="hunter2-hunter2 @all\n/approve")
    texts = [one["body"] for one in shop.review["comments"]]
    assert "hunter2" not in str(shop.review)
    assert "hunter2" not in str(OutsideReply.objects.get(kind="review").data)
    assert ["```suggestion" in one for one in texts] == [False, False, False, True]
    assert "\n/merge" not in texts[1]
    assert "@dependabot" not in texts[2]
    assert texts[3].startswith("\u200b/close")
    assert "@property" in texts[3]
    assert "@all" not in shop.review["body"]
    assert "\n/approve" not in shop.review["body"]


@ON_GITHUB
def test_a_forge_that_is_busy_gets_it_later_and_one_that_refuses_is_on_the_page(
    shop: Shop, alice: User
) -> None:
    shop.outside.say("/oc wait", number=3, is_pull=True)
    session = Session.objects.get()
    run(session)
    shop.outside.write()
    server = shop.outside.server
    shop.ask(reviewing(), [{"text": "Reviewed."}], number=3, is_pull=True)
    server.then += [answer(b"{}", status=429, retry_after="600")]
    shop.outside.write()
    row = OutsideReply.objects.get(kind="review")
    assert (row.next_at - row.created_at).total_seconds() > 590
    OutsideReply.objects.filter(pk=row.pk).update(attempts=11)
    server.then += [answer(b"{}", status=502)]
    shop.outside.write()
    row.refresh_from_db()
    assert row.state == "failed"
    shop.outside.client.force_login(alice)
    url = f"/t/acme/p/{shop.outside.project.pk}/integration"
    page = shop.outside.client.get(url).content.decode()
    assert "Review · " in page
    shop.outside.client.post(f"{url}/again/{row.pk}")
    shop.outside.write()
    assert len(server.parts.reviews) == 1


@ON_GITHUB
def test_only_sessions_of_a_pull_request_have_the_tool(
    outside: Forge, alice: User, bob: User
) -> None:
    link_account(outside, bob)
    own = make_session(alice, outside.project, metadata={"integration": "igr_made_up"})
    assert not can_review(own)
    outside.say("/oc look", number=7)
    session = Session.objects.exclude(pk=own.pk).get()
    assert not can_review(session)
    session.conversations.update(thread="pull/7")
    assert can_review(session)
    set_private(session_access(bob, session), private=True)
    session.refresh_from_db()
    assert not can_review(session)


@ON_GITHUB
def test_a_call_in_another_session_is_of_no_tool_that_is_there(shop: Shop) -> None:
    shop.ask(reviewing(), [{"text": "No."}], number=7)
    [call] = Part.objects.filter(type="tool")
    assert call.data["tool"] == "invalid"
    assert not OutsideReply.objects.filter(kind="review").exists()


@ON_GITHUB
def test_a_model_that_goes_in_circles_does_not_fill_the_thread(shop: Shop) -> None:
    steps = [reviewing(summary=f"No. {at}") for at in range(5)]
    shop.ask(*steps, [{"text": "Done."}], number=3, is_pull=True)
    shop.outside.write()
    assert len(shop.outside.server.parts.reviews) == 3
    errors = Part.objects.filter(data__tool="review", data__state__status="error")
    assert "3 reviews of this request already" in errors.first().data["state"]["error"]
