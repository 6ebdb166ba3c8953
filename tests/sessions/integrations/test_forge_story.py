"""From an issue to a pull request whose reviewer has been answered."""

from __future__ import annotations

import pytest

from sessions.models import Checkout, Integration, OutsideReply, Part, PullRequest, Session
from tests.sessions.checkouts.conftest import run as sh
from tests.sessions.factories import script
from tests.sessions.integrations.conftest import Shop, run
from tests.sessions.integrations.happenings import line_comment, send

pytestmark = [pytest.mark.deep, pytest.mark.django_db(transaction=True), pytest.mark.any_database]
TEST = {"command": "grep -q tax till.py && echo 1 passed || echo 1 failed", "description": "Test"}


def call(command: str) -> dict[str, object]:
    return {"tool": "bash", "input": {"command": command, "description": "Work"}}


def test_an_issue_becomes_a_pull_request_and_its_reviewer_is_answered(shop: Shop) -> None:
    Integration.objects.update(pulls=True, checks=True)
    server, test = shop.outside.server, {"tool": "bash", "input": TEST}
    session = shop.ask([test], [call("echo tax >>till.py")], [test], [{"text": "Mended."}])
    branch = Checkout.objects.get(session=session).branch
    server.branches.add(branch)
    shop.settle()
    outputs = [one.data["state"]["output"] for one in Part.objects.filter(data__tool="bash")]
    assert [one.strip() for one in outputs if "1 " in one] == ["1 failed", "1 passed"]
    pull = PullRequest.objects.get()
    made, mended = server.pulls[-1], shop.head(branch)
    assert "Closes #7" in (made.get("body") or made["description"])
    assert sh(f"git show {mended}:till.py", shop.bare).endswith("tax\n")

    # Somebody reviews it.
    made |= {"sha": mended, "head": {"ref": branch, "sha": mended, "repo_id": 7}}
    said = script([call("echo once >>till.py")], [test], [{"text": "It adds the tax once now."}])
    asked = f"/oc Why twice? {said}"
    send(shop.outside, *line_comment(shop.outside, asked, number=pull.number))
    reviewed = Session.objects.latest("created_at")
    run(reviewed)
    shop.settle()
    assert session.pk != reviewed.pk
    answered = shop.head(branch)
    assert sh(f"git log --format=%H {mended}..{answered}", shop.bare).split() == [answered]
    assert sh(f"git show {answered}:till.py", shop.bare).endswith("tax\nonce\n")
    [on_issue, on_pull] = shop.outside.answers
    assert f"**Pull request:** [#{pull.number}]" in on_issue
    assert on_pull.startswith("It adds the tax once now.")
    assert f"The changes are pushed to `{branch}`." in on_pull
    states = [one["state"] for one in server.parts.statuses]
    assert states[-1] == "success"
    assert {one["sha"] for one in server.parts.statuses} == {mended}

    # As after a worker that died before it noted what it had done.
    before = [*server.comments], [*server.pulls], shop.head(branch)
    OutsideReply.objects.update(state="pending", attempts=1)
    shop.settle()
    assert ([*server.comments], [*server.pulls], shop.head(branch)) == before
