from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from sessions.models import Project
from teams.models import Team, User
from tests.factories import make_team
from tests.sessions.api.conftest import Connect
from tests.sessions.factories import make_project


@pytest.fixture
def garden(team: Team, tmp_path: Any) -> Project:
    return make_project(team, tmp_path / "my garden", name="My Garden")


def test_a_project_is_named_by_path_or_by_team_and_name(
    alice: User, connect: Connect, project: Project, garden: Project
) -> None:
    client = connect(alice)
    for named, found in (
        (project.directory, project),
        (f"{garden.directory}/below/", garden),
        ("acme/shop", project),
        ("acme/my garden", garden),
        ("Shop", project),
        (garden.pk, garden),
        (f"acme/{garden.pk}", garden),
    ):
        by_query = client.get(f"/project/current?directory={quote(named)}").json()
        assert by_query["id"] == found.pk, named
        headers = {"x-opencode-directory": quote(named)}
        assert client.get("/project/current", headers=headers).json()["id"] == found.pk
    below = client.get(f"/path?directory={quote(garden.directory + '/below')}").json()
    assert below["directory"] == f"{garden.directory}/below"
    assert client.get("/path?directory=acme/shop").json()["directory"] == project.directory


def test_an_unknown_one_is_answered_with_what_there_is(
    alice: User, charlie: User, connect: Connect, project: Project, tmp_path: Any
) -> None:
    globex = charlie.memberships.get().team
    theirs = make_project(globex, tmp_path / "theirs", name="theirs")
    client = connect(alice)
    for named in ("/nowhere", "acme/nothing", "globex/theirs", theirs.directory, theirs.pk):
        answer = client.get(f"/project/current?directory={quote(named)}")
        assert answer.status_code == 404
        message = answer.json()["data"]["message"]
        assert message.endswith(f"You can name acme/shop ({project.directory}).")
        assert named in message
    empty = make_team(alice, name="Empty", slug="empty")
    answer = connect(alice, of=empty).get("/project/current?directory=x")
    assert answer.json()["data"]["message"] == "Project not found: x. You have none."


def test_a_token_has_a_default_project(
    alice: User, connect: Connect, project: Project, garden: Project
) -> None:
    first, second = connect(alice), connect(alice)
    assert first.put("/project/current?directory=acme/shop").json()["id"] == project.pk
    second.put(f"/project/current?project={garden.pk}")
    assert first.get("/project/current").json()["id"] == project.pk
    assert second.get("/project/current").json()["id"] == garden.pk
    first.put("/project/current?directory=acme/my garden")
    assert first.get("/project/current").json()["id"] == garden.pk
    garden.delete()
    assert first.get("/project/current").json()["id"] == project.pk
