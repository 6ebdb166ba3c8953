"""What an agent changes for a comment, on a branch and in a pull request."""

from __future__ import annotations

from typing import Any

import pytest

from sessions.actions.change_approval import approve_request
from sessions.forges.adapter import ForgeKind
from sessions.models import (
    ChangeRequest,
    Checkout,
    Integration,
    OutsideReply,
    PullRequest,
    Session,
)
from teams.access import access_team
from teams.models import AuditEntry, User
from tests.sessions.checkouts.conftest import run as sh
from tests.sessions.integrations.conftest import Shop
from tests.sessions.integrations.test_reviews import ON_GITHUB

pytestmark = [pytest.mark.deep, pytest.mark.django_db(transaction=True), pytest.mark.any_database]


@pytest.fixture(autouse=True)
def switched_on(shop: Shop) -> None:
    Integration.objects.update(pulls=True)


def change(shop: Shop, command: str, says: str = "Mended.", **more: Any) -> Session:
    call = {"tool": "bash", "input": {"command": command, "description": "Change"}}
    session = shop.ask([call], [{"text": says}], **more)
    # The forge knows a branch once it is pushed.
    shop.outside.server.branches.add(Checkout.objects.get(session=session).branch)
    shop.settle()
    return session


def pulls(shop: Shop) -> list[dict[str, Any]]:
    return shop.outside.server.pulls[3:]


def test_an_issue_gets_a_pull_request_that_closes_it(shop: Shop, bob: User) -> None:
    session = change(shop, "echo 1 >new.py", number=7)
    [made] = pulls(shop)
    text = made.get("body") or made["description"]
    assert made["title"] == "The till is wrong"
    assert text.startswith("Mended.\n\nCloses #7\n")
    branch = Checkout.objects.get(session=session).branch
    assert sh(f"git show {branch}:new.py", shop.bare) == "1\n"
    assert "Bob" in sh(f"git log -1 --format=%an {branch}", shop.bare)
    row = PullRequest.objects.get()
    assert (row.session, row.branch) == (session, branch)
    [shown] = shop.outside.answers
    assert f"**Pull request:** [#{row.number}]({row.url})" in shown
    assert AuditEntry.objects.filter(action="pull.opened", actor=bob).count() == 1

    # A later turn pushes to the same branch.
    change(shop, "echo 2 >new.py", number=7)
    assert len(pulls(shop)) == 1
    assert sh(f"git show {branch}:new.py", shop.bare) == "2\n"
    assert all("**Pull request:**" in one for one in shop.outside.answers)


@ON_GITHUB
def test_a_turn_without_changes_opens_nothing(shop: Shop) -> None:
    change(shop, "true", number=7)
    assert pulls(shop) == []
    assert "Pull request" not in shop.outside.answers[0]
    assert OutsideReply.objects.get(kind="pull").state == "done"


@ON_GITHUB
def test_a_worker_that_dies_opens_no_second_pull_request(shop: Shop) -> None:
    change(shop, "echo 1 >new.py", number=7)
    OutsideReply.objects.filter(kind="pull").update(state="pending", data={}, attempts=1)
    Checkout.objects.update(job_key="")
    shop.settle()
    assert len(pulls(shop)) == 1
    assert sh("git rev-list --count --branches=opencode/* --not main", shop.bare).strip() == "1"


def test_a_pull_request_gets_the_changes_on_its_branch(shop: Shop, bob: User) -> None:
    before = shop.head("topic")
    change(shop, "echo 1 >new.py; git commit -qam x || true", number=3, is_pull=True)
    assert sh("git show topic:new.py", shop.bare) == "1\n"
    assert before in sh("git rev-list topic", shop.bare).split()
    assert "The changes are pushed to `topic`." in shop.outside.answers[0]
    assert pulls(shop) == []
    assert shop.head("main") == sh("git rev-parse main", shop.clone).strip()
    entry = AuditEntry.objects.get(action="checkout.pushed", actor=bob)
    assert entry.names["branch"] == "topic"


@ON_GITHUB
def test_nothing_is_pushed_over_commits_of_others(shop: Shop) -> None:
    shop.outside.say("/oc wait", number=3, is_pull=True)
    push = "git push -q origin topic HEAD:refs/pull/3/head"
    sh(f"echo theirs >till.py; git commit -qam Theirs; {push}", shop.clone)
    theirs = shop.head("topic")
    # Not told by the forge yet, and then.
    for sha in (shop.outside.server.pulls[2]["head"]["sha"], theirs):
        shop.outside.server.pulls[2]["head"]["sha"] = sha
        change(shop, f"echo {sha} >new.py", number=3, is_pull=True)
        assert shop.head("topic") == theirs
        assert "so nothing was pushed" in shop.outside.answers[-1]


@ON_GITHUB
def test_a_push_that_comes_too_late_is_told(shop: Shop) -> None:
    sh("echo theirs >till.py; git commit -qam Theirs; git push -q origin topic", shop.clone)
    theirs = shop.head("topic")
    # The forge's API does not know of it yet.
    change(shop, "echo 1 >new.py", number=3, is_pull=True)
    assert shop.head("topic") == theirs
    assert "so nothing was pushed" in shop.outside.answers[-1]
    assert "other side has commits" in Checkout.objects.get().job_detail


@ON_GITHUB
@pytest.mark.parametrize(("branch", "default"), [("topic", "topic"), ("main", "trunk")])
def test_nothing_is_pushed_to_the_default_or_the_base_branch(
    shop: Shop, branch: str, default: str
) -> None:
    shop.outside.server.parts.default_branch = default
    shop.outside.server.pulls[2]["head"]["ref"] = branch
    before = shop.head(branch)
    change(shop, "echo 1 >new.py", number=3, is_pull=True)
    assert shop.head(branch) == before
    assert f"Nothing is pushed to the branch `{branch}`" in shop.outside.answers[0]


@ON_GITHUB
def test_where_a_second_person_is_needed_the_answer_says_so(shop: Shop, alice: User) -> None:
    team = shop.outside.project.team
    team.needs_approval = ["push"]
    team.save()
    session = change(shop, "echo 1 >new.py", number=3, is_pull=True)
    before = shop.head("topic")
    assert "Somebody has to approve in the session" in shop.outside.answers[0]
    asked = ChangeRequest.objects.get()
    assert (asked.status, asked.told["branch"]) == ("pending", "topic")
    shop.settle()
    assert ChangeRequest.objects.count() == 1
    approve_request(access_team(alice, team.pk), asked)
    shop.settle()
    assert shop.head("topic") != before
    assert "The changes are pushed to `topic`." in shop.outside.answers[0]
    assert Checkout.objects.get(session=session).pushed_branch == "topic"


@ON_GITHUB
def test_a_push_that_nobody_approves_is_told(shop: Shop) -> None:
    team = shop.outside.project.team
    team.needs_approval = ["push"]
    team.save()
    change(shop, "echo 1 >new.py", number=7)
    ChangeRequest.objects.update(status="expired")
    shop.settle()
    assert "Nobody has approved" in shop.outside.answers[0]
    assert pulls(shop) == []


@ON_GITHUB
def test_without_the_switch_nothing_is_published(shop: Shop) -> None:
    Integration.objects.update(pulls=False)
    change_ = {"tool": "bash", "input": {"command": "echo 1 >new.py", "description": "Change"}}
    shop.ask([change_], [{"text": "Mended."}], number=7)
    shop.settle()
    assert not OutsideReply.objects.filter(kind="pull").exists()
    assert pulls(shop) == []
    assert shop.outside.kind is ForgeKind.GITHUB


@ON_GITHUB
def test_a_branch_that_the_forge_protects_is_told(shop: Shop) -> None:
    hook = shop.bare / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    before = shop.head("topic")
    change(shop, "echo 1 >new.py", number=3, is_pull=True)
    assert shop.head("topic") == before
    assert "could not be published" in shop.outside.answers[0]
    assert OutsideReply.objects.get(kind="pull").state == "done"
