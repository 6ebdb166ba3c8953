from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client
from pytest_django import Settings

from sessions.checkouts.jobs import run_job
from sessions.models import Checkout, Project, SavedRule, Session
from sessions.runner import run_session
from teams.models import User
from tests.factories import make_team
from tests.sessions.api.conftest import Connect
from tests.sessions.api.shapes import SESSION, check
from tests.sessions.checkouts.conftest import INIT, run
from tests.sessions.factories import prompt, script
from tests.sessions.runner.drains import allow_bash

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]
JSON = "application/json"


@pytest.fixture
def shop(project: Project, tmp_path: Path, settings: Settings) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    run(f"rm -rf .git; {INIT}", Path(project.directory))
    return Path(project.directory)


def do(session: str) -> Checkout:
    asyncio.run(run_job(session))
    return Checkout.objects.get(pk=session)


def make(client: Client, project: Project, **fields: Any) -> dict[str, Any]:
    answer = client.post(f"/session?directory={quote(project.directory)}", fields, JSON)
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def run_turn(session_id: str, alice: User, command: str) -> None:
    session = Session.objects.get(pk=session_id)
    if not SavedRule.objects.exists():
        allow_bash(session)
    call = {"tool": "bash", "input": {"command": command, "description": "Run"}}
    prompt(alice, session, script([call], [{"text": "ok"}]))
    asyncio.run(run_session(session.pk))


def test_without_a_word_a_session_is_in_the_folder_that_the_client_named(
    connect: Connect, alice: User, bob: User, project: Project, shop: Path
) -> None:
    client = connect(alice)
    assert make(client, project)["directory"] == project.directory
    assert make(client, project, worktree=False)["directory"] == project.directory
    own = make(client, project, worktree=True)
    check(own, SESSION)
    assert own["directory"].endswith(f"/{own['id']}/shop")
    from_branch = make(client, project, branch="main")
    assert Checkout.objects.get(pk=from_branch["id"]).base_branch == "main"
    listed = client.get(f"/experimental/worktree?directory={quote(project.directory)}").json()
    assert listed == [from_branch["directory"], own["directory"]]
    wrong = {"worktree": False, "branch": "main"}
    address = f"/session?directory={quote(project.directory)}"
    assert client.post(address, wrong, JSON).status_code == 400
    assert client.post(address, {"branch": "a..b"}, JSON).status_code == 400


def test_a_session_begins_at_a_commit_of_the_remote_repository(
    connect: Connect, alice: User, project: Project, shop: Path
) -> None:
    client = connect(alice)
    address = f"/session?directory={quote(project.directory)}"
    at = {"commit": "a" * 40, "ref": "refs/heads/mend/tax"}
    assert "no remote repository" in client.post(address, at, JSON).json()["data"]["message"]
    project.git_url = "https://forge.test/acme/till.git"
    project.save()
    row = Checkout.objects.get(pk=make(client, project, **at)["id"])
    assert (row.base, row.fetch, row.asked) == ("a" * 40, "refs/heads/mend/tax", True)
    wrong: list[dict[str, Any]] = [
        {**at, "commit": ""},
        {**at, "commit": "main"},
        {**at, "commit": f"{at['commit']}\n"},
        {**at, "ref": ""},
        {**at, "ref": "main"},
        # Anybody can have put something there.
        {**at, "ref": "refs/pull/7/head"},
        {**at, "ref": "refs/heads/a:refs/heads/b"},
        {**at, "ref": "refs/heads/"},
        {**at, "worktree": False},
    ]
    answers = [client.post(address, given, JSON).status_code for given in wrong]
    assert answers == [400] * len(wrong)


def test_a_client_in_a_worktree_finds_its_project_and_shares_the_folder(
    connect: Connect, alice: User, charlie: User, project: Project, shop: Path
) -> None:
    client = connect(alice)
    own = make(client, project, worktree=True)
    run_turn(own["id"], alice, "mkdir sub")
    place = f"?directory={quote(own['directory'])}"
    assert client.get(f"/project/current{place}").json()["id"] == project.pk
    assert client.get(f"/path{place}/sub").json()["directory"] == f"{own['directory']}/sub"
    assert own["id"] in [row["id"] for row in client.get(f"/session{place}").json()]
    second = client.post(f"/session{place}", {}, JSON).json()
    assert second["directory"] == own["directory"]
    # Its worktree cannot go while another session is in it.
    assert client.delete(f"/session/{own['id']}").status_code == 409
    others = make_team(charlie, name="Other")
    assert connect(charlie, of=others).get(f"/project/current{place}").status_code == 404


def test_work_is_committed_merged_and_dropped(
    connect: Connect, alice: User, project: Project, shop: Path
) -> None:
    client = connect(alice)
    own = make(client, project, worktree=True, title="Mend")
    address = f"/session/{own['id']}/worktree"
    assert client.get(address).json()["state"] == "new"
    assert client.post(f"{address}/merge", content_type=JSON).status_code == 409
    run_turn(own["id"], alice, "echo 1 >new")
    assert client.post(f"{address}/look", content_type=JSON).json()["job"] == "look"
    do(own["id"])
    seen = client.get(address).json()
    assert (seen["state"], seen["dirty"], seen["ahead"], seen["job"]) == ("ready", 1, 0, "")
    assert seen["base"]["branch"] == "main"
    asked = client.post(f"{address}/commit", {"message": "Mend it"}, JSON).json()
    assert asked["job"] == "commit"
    do(own["id"])
    assert client.get(address).json()["ahead"] == 1
    client.post(f"{address}/merge", content_type=JSON)
    assert do(own["id"]).job_detail == "Merged into main (fast-forward)."
    assert (shop / "new").exists()
    client.post(f"{address}/push", {"url": ""}, JSON)
    refused = client.post(f"{address}/push", {"url": "ftp://x/y"}, JSON)
    assert refused.status_code == 400
    client.post(f"{address}/drop", content_type=JSON)
    do(own["id"])
    assert client.get(address).json()["state"] == "dropped"


def test_a_conflict_names_the_files(
    connect: Connect, alice: User, project: Project, shop: Path
) -> None:
    client = connect(alice)
    own = make(client, project, worktree=True)
    run_turn(own["id"], alice, "echo mine >till.py; git commit -qam mine")
    run("echo theirs >till.py; git commit -qam theirs", shop)
    client.post(f"/session/{own['id']}/worktree/merge", content_type=JSON)
    do(own["id"])
    result = client.get(f"/session/{own['id']}/worktree").json()["result"]
    assert result["ok"] is False
    assert "Both sides changed: till.py" in result["message"]
    assert (shop / "till.py").read_text() == "theirs\n"


def test_a_fork_starts_from_the_files_of_its_source(
    connect: Connect, alice: User, project: Project, shop: Path
) -> None:
    client = connect(alice)
    own = make(client, project, worktree=True)
    run_turn(own["id"], alice, "echo 1 >new")
    fork = client.post(f"/session/{own['id']}/fork", {}, JSON).json()
    assert fork["directory"] not in (own["directory"], project.directory)
    run_turn(own["id"], alice, "echo 2 >new; echo 3 >later")
    run_turn(fork["id"], alice, "git status --porcelain >/tmp/s; cp /tmp/s seen")
    folder = Path(fork["directory"])
    assert (folder / "new").read_text() == "1\n"
    assert not (folder / "later").exists()
    assert "?? new" in (folder / "seen").read_text()


def test_a_worktree_is_begun_and_removed_by_its_folder(
    connect: Connect, alice: User, charlie: User, project: Project, shop: Path
) -> None:
    client = connect(alice)
    here = f"?directory={quote(project.directory)}"
    made = client.post(f"/experimental/worktree{here}", {"name": "Mend the till"}, JSON).json()
    assert made["branch"].startswith("opencode/")
    session = Session.objects.get(pk=made["sessionID"])
    assert (session.title, session.directory) == ("Mend the till", made["directory"])
    assert client.get(f"/experimental/worktree{here}").json() == [made["directory"]]
    directories = client.get(f"/project/{project.pk}/directories").json()
    assert [row["directory"] for row in directories] == [project.directory, made["directory"]]
    shared = client.post(f"/session?directory={quote(made['directory'])}", {}, JSON).json()
    assert shared["directory"] == made["directory"]
    run_turn(session.pk, alice, "echo 1 >new")
    body = {"directory": made["directory"]}
    reset = client.post("/experimental/worktree/reset", body, JSON)
    assert reset.status_code == 409
    outsider = connect(charlie, of=charlie.memberships.get().team)
    assert outsider.delete("/experimental/worktree", body, JSON).status_code == 404
    assert client.delete("/experimental/worktree", body, JSON).json() is True
    assert do(session.pk).state == Checkout.State.RESCUED
    start = {"startCommand": "make"}
    assert client.post(f"/experimental/worktree{here}", start, JSON).status_code == 400
