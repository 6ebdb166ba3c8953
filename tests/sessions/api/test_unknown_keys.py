from __future__ import annotations

import json
from pathlib import Path

import pytest

from sessions.config.effective import project_config
from sessions.models import Project
from teams.models import Team, User
from tests.sessions.api.conftest import Connect

pytestmark = pytest.mark.django_db
JSON = "application/json"
NAMED = "It is not known here."


@pytest.mark.parametrize("level", ["team", "project", "global"])
def test_settings_are_saved_without_them_and_clients_are_told(
    alice: User, team: Team, project: Project, connect: Connect, level: str
) -> None:
    path = {"team": "/config?team=acme", "project": "/config", "global": "/global/config"}[level]
    patch = {"model": "a/b", "modle": 1, "compaction": {"ä\r\nx": 1, "auto": False}}
    client = connect(alice)
    answer = client.patch(path, patch, content_type=JSON)
    assert answer.status_code == 200
    assert answer["X-Unknown-Keys"] == "compaction.%C3%A4??x, modle".replace("?", "%3F")
    row = project if level == "project" else team
    row.refresh_from_db()
    assert row.config == {"model": "a/b", "compaction": {"auto": False}}
    assert "modle" not in answer.json()
    assert "X-Unknown-Keys" not in client.patch(path, {"modle": None}, content_type=JSON)
    # What an older version has stored goes with the next change.
    row.config = {"modle": 1, "model": "a/b"}
    row.save()
    assert "modle" not in client.get("/config").json()
    client.patch(path, {"username": "u"}, content_type=JSON)
    row.refresh_from_db()
    assert row.config == {"model": "a/b", "username": "u"}


def test_a_wrong_key_among_bounds_is_refused(
    alice: User, project: Project, connect: Connect
) -> None:
    patch = {"limits": {"sesion_cost": 1}}
    answer = connect(alice).patch("/config", patch, content_type=JSON)
    assert answer.status_code == 400
    assert "limits.sesion_cost" in answer.json()["data"]["message"]


def test_a_repository_is_told_of_them_and_everything_else_counts(
    alice: User, project: Project, connect: Connect
) -> None:
    found = {"model": "a/b", "modle": 1, "compaction": {"auto": False, "atuo": True}}
    Path(project.directory, "opencode.json").write_text(json.dumps(found))
    more = Path(project.directory, ".opencode")
    more.mkdir()
    (more / "opencode.json").write_text('{"small_model": "a/c", "smal_model": "a/c"}')
    config = project_config(project)
    assert (config.model, config.small_model, config.compaction.auto) == ("a/b", "a/c", False)
    client = connect(alice)
    assert client.get("/config/repository").json()["ignored"] == [
        {"key": "compaction.atuo, modle", "path": "opencode.json", "reason": NAMED},
        {"key": "smal_model", "path": ".opencode/opencode.json", "reason": NAMED},
    ]
    shown = client.get("/config").json()
    assert (shown["model"], shown["compaction"]) == ("a/b", {"auto": False})
    assert "modle" not in shown
