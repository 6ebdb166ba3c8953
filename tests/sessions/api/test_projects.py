from __future__ import annotations

from pathlib import Path

import pytest
from asgiref.sync import sync_to_async
from django.http import HttpResponse
from pytest_django import Settings

from sessions.models import Project, TeamFolder
from teams.models import AuditEntry, Team, User
from tests.sessions.api.conftest import Connect, ConnectAsync
from tests.sessions.api.shapes import PROJECT, check
from tests.sessions.checkouts.conftest import run
from tests.sessions.factories import make_project

JSON = "application/json"


@pytest.mark.django_db
def test_a_project_is_begun_empty_or_with_a_folder(
    alice: User, connect: Connect, team: Team, tmp_path: Path, settings: Settings
) -> None:
    settings.WORKTREES_DIR = tmp_path / "worktrees"
    brought = settings.WORKTREES_DIR / "brought"
    brought.mkdir(parents=True)
    TeamFolder.objects.create(host="local", path=str(brought), team=team)
    client = connect(alice)
    made = client.post("/project", {"name": "New one"}, JSON).json()
    check(made, PROJECT)
    assert (Path(made["worktree"]) / ".git").is_dir()
    taken = client.post("/project", {"directory": "brought"}, JSON).json()
    assert taken["worktree"] == str(brought)
    assert {row["id"] for row in client.get("/project").json()} == {made["id"], taken["id"]}
    for body in ({}, {"directory": "../outside"}, {"url": "ftp://x/y"}):
        assert client.post("/project", body, JSON).status_code == 400
    assert Project.objects.filter(team=team).count() == 2


@pytest.mark.django_db
def test_a_project_says_where_it_was_cloned_from(
    alice: User, connect: Connect, project: Project
) -> None:
    client = connect(alice)
    assert "remote" not in client.get("/project").json()[0]
    Project.objects.filter(pk=project.pk).update(git_url="https://git.example.com/acme/till.git")
    (shown,) = client.get("/project").json()
    check(shown, PROJECT)
    assert shown["remote"] == "https://git.example.com/acme/till.git"


@pytest.mark.django_db
def test_a_project_gets_another_name_and_look(
    alice: User, connect: Connect, project: Project
) -> None:
    client = connect(alice)
    path = f"/project/{project.pk}"
    body = {"name": "Till", "icon": {"color": "pink"}, "commands": {"start": ""}}
    changed = client.patch(path, body, JSON).json()
    assert (changed["name"], changed["icon"]) == ("Till", {"color": "pink"})
    assert client.get("/project/current").json()["icon"] == {"color": "pink"}
    assert client.patch(path, {"commands": {"start": "make"}}, JSON).status_code == 400
    assert client.patch(path, {"name": " "}, JSON).status_code == 400
    assert client.patch("/project/nope", {"name": "x"}, JSON).status_code == 404
    entries = AuditEntry.objects.filter(action="project.updated").order_by("pk")
    assert [entry.told for entry in entries] == [
        {"before": "shop", "after": "Till"},
        {"icon": "changed"},
    ]


@pytest.mark.django_db(transaction=True)
async def test_a_folder_becomes_a_repository_once(
    connect_async: ConnectAsync, alice: User, team: Team, tmp_path: Path, settings: Settings
) -> None:
    settings.DATA_DIR = tmp_path / "data"
    project = await sync_to_async(make_project)(team, tmp_path / "plain", git=False)
    client = await sync_to_async(connect_async)(alice)

    async def init(name: str = "git/init") -> HttpResponse:
        address = f"/project/{name}?directory={project.directory}"
        return await client.post(address, content_type=JSON)

    assert (await init()).json()["id"] == project.pk
    assert run("git symbolic-ref --short HEAD", Path(project.directory)) == "main\n"
    assert (await init("init")).status_code == 200
    assert await AuditEntry.objects.filter(data={"git": "init"}).acount() == 1
    run("rm -rf .git; echo gitdir: /tmp >.git", Path(project.directory))
    assert (await init()).status_code == 409
