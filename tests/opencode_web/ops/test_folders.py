from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from sessions.models import TeamFolder
from teams.models import AuditEntry, Team, User

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.WORKTREES_DIR = tmp_path / "worktrees"
    folder = tmp_path / "worktrees" / "shop"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def globex(charlie: User) -> Team:
    return Team.objects.get(slug="globex")


def test_an_operator_assigns_and_reassigns_folders(
    console: Client, folder: Path, team: Team, globex: Team, root: User
) -> None:
    before = console.get("/ops/folders").content.decode()
    assert "No folders are assigned yet." in before
    assert "An operator who adds a project from a folder that no team has" in before
    sent = {"path": "shop", "team": team.pk, "reason": "New customer"}
    page = console.post("/ops/folders", sent, follow=True).content.decode()
    assert f"{folder} is assigned to Acme." in page
    row = TeamFolder.objects.get()
    assert (row.path, row.team, row.assigned_by) == (str(folder), team, root)
    to_globex = {"team": globex.pk, "reason": "Sold"}
    console.post(f"/ops/folders/{row.pk}", to_globex)
    row.refresh_from_db()
    assert row.team == globex
    whole = AuditEntry.objects.filter(team=None).latest("id")
    assert (whole.told["before"], whole.told["after"]) == ("acme", "globex")
    assert "Sold" in console.get("/ops/audit").content.decode()
    # The folder may be gone by then: the row can be given away all the same.
    folder.rmdir()
    console.post(f"/ops/folders/{row.pk}", {"team": team.pk, "reason": "Back"})
    row.refresh_from_db()
    assert row.team == team


@pytest.mark.parametrize(
    "changes", [{"path": "none"}, {"path": ".."}, {"reason": " "}, {"team": "team_none"}]
)
def test_what_cannot_be_assigned_is_said_in_the_form(
    changes: dict[str, str], console: Client, team: Team
) -> None:
    sent = {"path": "shop", "team": team.pk, "reason": "x", **changes}
    assert console.post("/ops/folders", sent).status_code == 422
    assert not TeamFolder.objects.exists()


def test_a_refused_reassignment_is_said_above_the_list(
    console: Client, folder: Path, team: Team
) -> None:
    console.post("/ops/folders", {"path": "shop", "team": team.pk, "reason": "x"})
    row = TeamFolder.objects.get()
    answer = console.post(f"/ops/folders/{row.pk}", {"team": team.pk, "reason": "x"})
    assert answer.status_code == 422
    assert f"{folder} is already assigned to Acme." in answer.content.decode()


def test_nobody_else_assigns(client: Client, alice: User, team: Team, folder: Path) -> None:
    client.force_login(alice)
    sent = {"path": "shop", "team": team.pk, "reason": "x"}
    assert client.post("/ops/folders", sent).status_code == 404
    row = TeamFolder.objects.create(host="local", path=str(folder), team=team)
    assert client.post(f"/ops/folders/{row.pk}", sent).status_code == 404
