from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from sessions.models import Project, TeamSkill
from teams.models import AuditEntry, Team, User

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
URL = "/t/acme/settings/skills/"
GIVEN = {"name": "release", "description": "Makes a release.", "text": "Tag it."}


def test_an_admin_writes_changes_and_deletes_a_skill(
    team: Team, adam: User, client_for: ClientFor
) -> None:
    browser = client_for(adam)
    assert "No skills yet" in browser.get(URL).content.decode()
    assert browser.post(f"{URL}new", GIVEN)["Location"] == URL
    row = TeamSkill.objects.get(team=team)
    assert (row.name, row.description, row.text) == tuple(GIVEN.values())
    page = browser.get(f"{URL}s/release").content.decode()
    assert "Tag it." in page
    changed = {**GIVEN, "name": "ship"}
    assert browser.post(f"{URL}s/release", changed)["Location"] == URL
    assert "ship" in browser.get(URL).content.decode()
    assert "cannot be undone" in browser.get(f"{URL}s/ship/delete").content.decode()
    assert browser.post(f"{URL}s/ship/delete")["Location"] == URL
    assert not TeamSkill.objects.exists()
    entries = AuditEntry.objects.filter(action__startswith="skill.").order_by("pk")
    assert [(one.action, one.data) for one in entries] == [
        ("skill.saved", {"name": "release"}),
        ("skill.saved", {"name": "ship", "was": "release"}),
        ("skill.deleted", {"name": "ship"}),
    ]


def test_a_member_reads_only(
    team: Team, adam: User, bob: User, vera: User, client_for: ClientFor
) -> None:
    client_for(adam).post(f"{URL}new", GIVEN)
    for user in (bob, vera):
        browser = client_for(user)
        page = browser.get(f"{URL}s/release").content.decode()
        assert "Tag it." in page
        assert "<textarea" not in page
        assert "New skill" not in browser.get(URL).content.decode()
        assert browser.post(f"{URL}s/release", GIVEN).status_code == 403


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": "Re lease"}, "lowercase letters"),
        ({"name": "../x"}, "lowercase letters"),
        ({"description": "  "}, "required"),
        ({"text": ""}, "required"),
    ],
)
def test_wrong_fields_are_explained(
    team: Team, adam: User, client_for: ClientFor, wrong: dict[str, str], said: str
) -> None:
    answer = client_for(adam).post(f"{URL}new", {**GIVEN, **wrong})
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not TeamSkill.objects.exists()


def test_a_name_is_taken_once(team: Team, adam: User, client_for: ClientFor) -> None:
    browser = client_for(adam)
    browser.post(f"{URL}new", GIVEN)
    answer = browser.post(f"{URL}new", GIVEN)
    assert answer.status_code == 422
    assert "The team already has a skill named release." in answer.content.decode()


def test_the_api_lists_those_of_the_project_and_of_its_team(
    project: Project, adam: User, client_for: ClientFor
) -> None:
    folder = Path(project.directory, ".claude/skills/deploy")
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: deploy\ndescription: Deploys.\n---\nRun it.\n")
    browser = client_for(adam)
    browser.post(f"{URL}new", GIVEN)
    listed = browser.get("/skill", {"directory": project.directory}).json()
    assert listed == [
        {
            "name": "deploy",
            "description": "Deploys.",
            "location": f"{folder}/SKILL.md",
            "content": "Run it.",
        },
        {
            "name": "release",
            "description": "Makes a release.",
            "location": "<team>",
            "content": "Tag it.",
        },
    ]
