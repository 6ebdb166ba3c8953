"""How a commit is shown to be, while an agent works on its pull request and afterwards."""

from __future__ import annotations

import pytest

from sessions.forges.adapter import ForgeKind
from sessions.models import Integration, OutsideReply, Session
from tests.sessions.integrations.conftest import Shop, run
from tests.sessions.integrations.outside import SAYS
from tests.sessions.integrations.test_reviews import ON_GITHUB, ask
from tests.web_server import answer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]


@pytest.fixture(autouse=True)
def switched_on(shop: Shop) -> None:
    Integration.objects.update(checks=True)


def test_a_status_goes_from_in_progress_to_its_end(shop: Shop) -> None:
    shop.outside.say(f"/oc {SAYS}", number=3, is_pull=True)
    parts = shop.outside.server.parts
    begun, ended = "pending", "success"
    if shop.outside.kind is ForgeKind.GITLAB:
        begun = "running"
    assert [one["state"] for one in parts.statuses] == [begun]
    session = Session.objects.get()
    run(session)
    shop.outside.write()
    assert [one["state"] for one in parts.statuses] == [begun, ended]
    assert {one["sha"] for one in parts.statuses} == {shop.head("topic")}
    assert parts.statuses[1]["target_url"].endswith(f"/s/{session.pk}")
    assert OutsideReply.objects.get(kind="check").state == "done"


@ON_GITHUB
def test_an_app_shows_a_check_run_with_the_comments_of_the_review(shop: Shop) -> None:
    parts = shop.outside.server.parts
    parts.is_app = True
    ask(shop, verdict="request_changes")
    [run_] = parts.runs
    assert (run_["status"], run_["conclusion"]) == ("completed", "failure")
    assert run_["output"] == {"title": "The agent requests changes", "summary": "Reviewed."}
    places = [(one["path"], one["start_line"], one["end_line"]) for one in run_["annotations"]]
    assert places == [("till.py", 2, 2), ("bill.py", 40, 40)]
    assert parts.statuses == []


@ON_GITHUB
def test_a_worker_that_dies_after_it_shows_no_second_one(shop: Shop) -> None:
    parts = shop.outside.server.parts
    parts.is_app = True
    shop.outside.say(f"/oc {SAYS}", number=3, is_pull=True)
    OutsideReply.objects.filter(kind="check").update(
        state="pending", comment="", attempts=1, data={"commit": shop.head("topic")}
    )
    shop.outside.write()
    assert len(parts.runs) == 1
    run(Session.objects.get())
    shop.outside.write()
    assert [one["conclusion"] for one in parts.runs] == ["success"]


@ON_GITHUB
def test_a_session_that_fails_fails_the_check_and_says_nothing_of_why(shop: Shop) -> None:
    shop.outside.server.parts.is_app = True
    failing = [{"error": {"kind": "auth", "message": "The key sk-1 is wrong"}}]
    shop.ask(failing, number=3, is_pull=True)
    shop.outside.write()
    [run_] = shop.outside.server.parts.runs
    assert run_["conclusion"] == "failure"
    assert "sk-1" not in str(run_)


@ON_GITHUB
def test_it_waits_as_long_as_the_forge_asks_for(shop: Shop) -> None:
    shop.outside.say(f"/oc {SAYS}", number=3, is_pull=True)
    run(Session.objects.get())
    shop.outside.server.then += [answer(b"{}", status=429, retry_after="900")] * 2
    shop.outside.write()
    row = OutsideReply.objects.get(kind="check")
    assert (row.next_at - row.created_at).total_seconds() > 890
    shop.outside.write()
    assert OutsideReply.objects.get(kind="check").state == "done"


@ON_GITHUB
def test_an_issue_has_no_commit_to_check(shop: Shop) -> None:
    shop.outside.say(f"/oc {SAYS}", number=7)
    assert not OutsideReply.objects.filter(kind="check").exists()
