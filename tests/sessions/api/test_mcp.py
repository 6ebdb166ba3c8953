from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

import pytest
from django.test import Client
from django.utils import timezone

from sessions.config.effective import project_config
from sessions.mcp.servers import digest_of
from sessions.models import McpServer, Project
from teams.models import AuditEntry, Team, User
from tests.sessions.api.conftest import Connect

pytestmark = pytest.mark.django_db
SERVER = {"type": "local", "command": ["serve"], "environment": {"TOKEN": "{env:TOKEN}"}}


def add(client: Client, name: str, config: dict[str, Any]) -> Any:
    return client.post("/mcp", {"name": name, "config": config}, content_type="application/json")


def stored(project: Project) -> Any:
    project.refresh_from_db()
    return project.config.get("mcp")


def test_a_server_is_added_changed_and_removed(
    alice: User, project: Project, connect: Connect
) -> None:
    """FEAT-0008 FR-03."""
    client = connect(alice)
    answer = add(client, "shop", SERVER).json()
    assert answer["shop"]["status"] == "failed"
    assert "not been asked yet" in answer["shop"]["error"]
    assert stored(project) == {"shop": SERVER}
    assert AuditEntry.objects.get(action="config.changed").data == {
        "keys": ["mcp"],
        "servers": ["shop"],
    }
    changed = {"command": ["other"]}
    add(client, "shop", changed)
    assert stored(project) == {"shop": changed}
    assert client.delete("/mcp?name=shop").json() == {"success": True}
    assert stored(project) is None
    assert client.delete("/mcp?name=shop").status_code == 404


@pytest.mark.parametrize(
    ("name", "config", "said"),
    [
        ("shop", {}, "no command"),
        ("apply", {"command": ["x"]}, "built-in tools begin with"),
        ("x" * 60, {"command": ["x"]}, "longer than 40"),
        ("", {"command": ["x"]}, "empty"),
        ("a\u202eb", {"command": ["x"]}, "invisible characters"),
        ("shop", {"command": "serve"}, "config.command"),
        ("shop", {"command": ["x"], "timeout": 0}, "config.timeout"),
    ],
)
def test_one_that_can_never_be_asked_is_refused(
    alice: User, project: Project, connect: Connect, name: str, config: dict[str, Any], said: str
) -> None:
    answer = add(connect(alice), name, config)
    assert answer.status_code == 400
    assert said in answer.json()["data"]["message"]
    assert stored(project) is None


def test_a_server_of_the_team_is_switched_off_and_on(
    alice: User, bob: User, team: Team, project: Project, connect: Connect
) -> None:
    team.config = {"mcp": {"shop": SERVER}}
    team.save()
    client = connect(alice)
    assert client.delete("/mcp?name=shop").status_code == 404
    assert client.post("/mcp/shop/disconnect").json() is True
    assert stored(project) == {"shop": {"enabled": False}}
    assert client.get("/mcp").json() == {"shop": {"status": "disabled"}}
    # To switch it on changes settings.
    assert connect(bob).post("/mcp/shop/connect").status_code == 403
    assert client.post("/mcp/shop/connect").json() is True
    assert stored(project) is None
    assert connect(bob).post("/mcp/shop/connect").json() is True


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ["my shop", "@acme/shop", "läden", "a.b", "50%", "q?x=1#y"])
def test_a_server_of_an_odd_name_has_its_routes(
    alice: User, project: Project, connect: Connect, name: str
) -> None:
    client, path = connect(alice), f"/mcp/{quote(name, safe='')}"
    assert add(client, name, SERVER).status_code == 200
    assert client.post(f"{path}/disconnect").json() is True
    assert client.get("/mcp").json() == {name: {"status": "disabled"}}
    assert client.post(f"{path}/connect").json() is True
    assert client.delete(f"{path}/auth").json() == {"success": True}
    assert client.delete(f"/mcp?{urlencode({'name': name})}").json() == {"success": True}


@pytest.mark.parametrize("name", ["", " x", "x" * 41, "a\nb"])
def test_settings_name_no_server_that_could_not_be_shown(
    alice: User, project: Project, connect: Connect, name: str
) -> None:
    patch = {"mcp": {name: SERVER}}
    answer = connect(alice).patch("/config", patch, content_type="application/json")
    assert answer.status_code == 400
    assert "Its name is empty, longer" in answer.json()["data"]["message"]
    # One of an older version does not keep other settings from being saved.
    project.config = patch
    project.save()
    answer = connect(alice).patch("/config", {"model": "a/b"}, content_type="application/json")
    assert answer.status_code == 200


def test_clients_are_told_what_can_be_read(alice: User, project: Project, connect: Connect) -> None:
    project.config = {"mcp": {"shop": SERVER, "other": SERVER}}
    project.save()
    hours = {"name": "Opening hours", "uri": "shop://hours"}
    for name, resources in (("shop", [hours]), ("other", None)):
        McpServer.objects.create(
            project=project,
            name=name,
            digest=digest_of(project_config(project).mcp[name]),
            resources=resources,
            asked_at=timezone.now(),
        )
    client = connect(alice)
    assert client.get("/experimental/resource").json() == {
        "shop:Opening_hours": {**hours, "client": "shop"}
    }
