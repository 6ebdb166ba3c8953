from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from sessions.access import access_session
from sessions.actions.change_approval import approve_request
from sessions.actions.change_requests import set_approvals
from sessions.actions.publish import request_pull, request_push_of
from sessions.checkouts.jobs import run_job
from sessions.models import (
    ChangeKind,
    ChangeRequest,
    Checkout,
    Project,
    ProjectForge,
    ProjectMember,
)
from teams.auth import authenticate_user
from teams.models import Membership, Role, Team, User
from tests.factories import add_member, make_user
from tests.sessions.api.conftest import Connect
from tests.sessions.api.test_checkouts import do, make, run_turn
from tests.sessions.checkouts.conftest import INIT, run
from tests.sessions.held_changes import KINDS, ask, make_change, of, priced

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]
JSON = "application/json"
Status = ChangeRequest.Status


@pytest.fixture
def shop(project: Project, tmp_path: Path, settings: Settings) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    run(f"rm -rf .git; {INIT}", Path(project.directory))
    return Path(project.directory)


def decide(client: Client, change: str, **body: Any) -> Any:
    return client.post(f"/approval/requests/{change}", body, JSON)


def log(folder: Path | str, ref: str = "main") -> str:
    return run(f"git log --format=%s {ref}", Path(folder))


def hold(alice: User, team: Team, *kinds: ChangeKind) -> None:
    set_approvals(of(alice, team), kinds or KINDS)


def committed(client: Client, alice: User, project: Project) -> str:
    own = str(make(client, project, worktree=True)["id"])
    run_turn(own, alice, "echo hi > new.txt; git add .; git commit -qm Work")
    assert client.post(f"/session/{own}/worktree/look").status_code == 200
    do(own)
    return own


def test_a_merge_waits_and_brings_what_was_seen(
    connect: Connect, alice: User, bob: User, adam: User, project: Project, shop: Path
) -> None:
    client = connect(alice)
    own = committed(client, alice, project)
    hold(alice, project.team)
    answer = client.post(f"/session/{own}/worktree/merge")
    wire = answer.json()
    assert (answer.status_code, wire["kind"], wire["status"]) == (202, "merge", "pending")
    assert set(wire["waitsFor"]) == {bob.pk, adam.pk}
    assert wire["title"].startswith("Merge opencode/")
    assert Checkout.objects.get(pk=own).job == ""
    assert decide(client, wire["id"], act="approve").status_code == 403
    mate = connect(bob)
    assert [one["id"] for one in mate.get("/approval/requests?status=pending").json()] == [
        wire["id"]
    ]
    done = decide(mate, wire["id"], act="approve", note="Ship it")
    assert (done.status_code, done.json()["status"]) == (200, "approved")
    row = do(own)
    assert row.job_by == alice
    assert not row.job_failed, row.job_detail
    assert "Work" in log(shop)


def test_a_branch_that_has_moved_on_is_not_merged(
    connect: Connect, alice: User, bob: User, project: Project, shop: Path
) -> None:
    client, mate = connect(alice), connect(bob)
    own = committed(client, alice, project)
    hold(alice, project.team, ChangeKind.MERGE)
    folder = Path(Checkout.objects.get(pk=own).folder)
    more = "echo {0} > {0}; git add .; git -c user.name=a -c user.email=a@b commit -qm {0}"

    # Nobody has looked since: it is found by who merges.
    first = client.post(f"/session/{own}/worktree/merge").json()["id"]
    run(more.format("unseen"), folder)
    assert decide(mate, first, act="approve").json()["status"] == "approved"
    row = do(own)
    assert row.job_failed
    assert "other commits" in row.job_detail
    client.post(f"/session/{own}/worktree/look")
    do(own)
    second = client.post(f"/session/{own}/worktree/merge").json()["id"]
    run(more.format("later"), folder)
    client.post(f"/session/{own}/worktree/look")
    do(own)
    failed = decide(mate, second, act="approve").json()
    assert (failed["status"], failed["note"]) == (
        "failed",
        "What this would replace has been changed since it was requested.",
    )
    assert "unseen" not in log(shop)


def test_a_push_waits_with_its_credential_sealed(
    connect: Connect, alice: User, bob: User, project: Project, shop: Path, tmp_path: Path
) -> None:
    run("git init -q --bare there.git", tmp_path)
    client = connect(alice)
    own = committed(client, alice, project)
    hold(alice, project.team, ChangeKind.PUSH)
    url = "https://user:canary-token@example.com/shop.git"
    held = client.post(f"/session/{own}/worktree/push", {"url": url}, JSON)
    assert held.status_code == 202
    row = ChangeRequest.objects.get()
    assert "canary-token" not in repr((row.told, row.arguments, held.content))
    assert "https://example.com/shop.git" in held.json()["title"]
    assert decide(connect(bob), row.pk, act="approve").json()["status"] == "approved"
    checkout = Checkout.objects.get(pk=own)
    assert (checkout.job, checkout.job_data["sealed"]) == ("push", True)


def test_pages_ask_before_they_push_or_open_a_pull_request(
    connect: Connect, alice: User, bob: User, project: Project, shop: Path
) -> None:
    own = committed(connect(alice), alice, project)
    ProjectForge.objects.create(
        project=project,
        remote_url="https://github.com/acme/shop.git",
        kind="github",
        token="x",
        updated_at=project.created_at,
    )
    hold(alice, project.team, ChangeKind.PUSH)
    access = access_session(authenticate_user(alice), own, need=Role.MEMBER)
    push = ask(lambda: request_push_of(access))
    assert push.told["url"] == "https://github.com/acme/shop.git"
    pull = ask(lambda: request_pull(access, title="Add a file", body="", base="main"))
    assert (pull.told["title"], pull.told["into"]) == ("Add a file", "main")
    ProjectForge.objects.update(remote_url="https://github.com/evil/shop.git")
    assert approve_request(of(bob, project.team), pull).status == Status.FAILED
    # Merging is not held, so it goes on.
    client = connect(alice)
    assert client.post(f"/session/{own}/worktree/merge").status_code == 200
    asyncio.run(run_job(own))


def test_what_is_held_says_so_to_clients_that_know_no_requests(
    connect: Connect, alice: User, adam: User, bill: User, project: Project
) -> None:
    hold(alice, project.team)
    client = connect(adam)
    rules = {"permission": {"bash": "allow"}}
    answer = client.patch(f"/config?directory={project.directory}", rules, JSON)
    assert (answer.status_code, answer.json()["name"]) == (409, "ConflictError")
    assert "second person must approve" in answer.json()["message"]
    for query in (f"directory={project.directory}", "team=acme"):
        answer = client.patch(f"/config?{query}", priced(0, 0), JSON)
        assert (answer.status_code, answer.json()["data"]["approval"]) == (409, "budgets")
        assert client.patch(f"/config?{query}", priced(9, 90), JSON).status_code == 200
    assert client.put("/budget?team=acme", {"team": 5}, JSON).status_code == 200
    held = client.put("/budget?team=acme", {"team": 6}, JSON)
    assert (held.status_code, held.json()["kind"]) == (202, "budgets")
    limit = {"scope": "team", "limit": 7}
    assert client.put("/budget/limits?team=acme", limit, JSON).status_code == 202
    # Whose role cannot see it, gets nothing; billing can decide on budgets and on nothing else.
    change = held.json()["id"]
    assert decide(connect(bill), change, act="reject", note="No").json()["note"] == "No"
    assert decide(client, change, act="withdraw").status_code == 409


def test_the_policy_by_the_api(connect: Connect, alice: User, bob: User, team: Team) -> None:
    client = connect(alice)
    assert client.get("/approval").json() == {"kinds": []}
    assert client.put("/approval", {"kinds": ["policy"]}, JSON).status_code == 400
    assert client.put("/approval", {"kinds": ["secrets"]}, JSON).status_code == 409
    assert client.put("/approval", {"kinds": ["merge"]}, JSON).json() == {"kinds": ["merge"]}
    second = make_user("second@example.com")
    add_member(team, second, Role.OWNER)
    held = client.put("/approval", {"kinds": []}, JSON)
    assert held.status_code == 202
    for act in ("explain", "withdraw"):
        assert decide(client, held.json()["id"], act=act, note="Too slow").status_code == 200
    assert ChangeRequest.objects.get().reason == "Too slow"


def test_the_role_in_a_project_decides_about_its_requests(
    alice: User, bob: User, vera: User, team: Team, project: Project, connect: Connect
) -> None:
    Team.objects.update(needs_approval=["merge"])
    row = make_change(alice, team)
    ChangeRequest.objects.filter(pk=row.pk).update(
        kind="merge",
        what="checkout.merge",
        need=Role.MEMBER,
        project=project,
        expires_at=timezone.now() + timedelta(days=1),
    )
    place = f"/approval/requests/{row.pk}"

    def seen(user: User) -> list[str]:
        return [one["id"] for one in connect(user).get("/approval/requests").json()]

    assert (seen(bob), seen(vera)) == ([row.pk], [])
    assert connect(vera).post(place, {"act": "reject"}, "application/json").status_code == 404
    for user, role in ((bob, Role.VIEWER), (vera, Role.MEMBER)):
        membership = Membership.objects.get(user=user)
        ProjectMember.objects.create(project=project, membership=membership, role=role)
    assert (seen(bob), seen(vera), seen(alice)) == ([], [row.pk], [row.pk])
    assert connect(bob).post(place, {"act": "reject"}, "application/json").status_code == 404
    # What is the whole team's stays with the role in the team.
    make_change(alice, team)
    assert seen(vera) == [row.pk]
    told = connect(vera).post(place, {"act": "reject", "note": "Later"}, "application/json")
    assert (told.status_code, told.json()["status"]) == (200, "rejected")
