from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from providers.models import Credential
from sessions.models import Project
from teams.models import Scope, Team, User
from tests.sessions.api.conftest import Connect

JSON = "application/json"
pytestmark = pytest.mark.django_db


def of(client: Client, name: str, here: str) -> Any:
    answer = client.get(f"/api/{name}?{here}")
    assert answer.status_code == 200, answer.content
    return answer.json()["data"]


def test_the_place_is_named(client: Client, project: Project, here: str) -> None:
    place = client.get(f"/api/location?{here}").json()
    assert place == {
        "directory": project.directory,
        "project": {"id": project.pk, "directory": project.directory},
    }
    assert client.get("/api/health").json() == {"healthy": True}
    assert client.get(f"/api/agent?{here}").json()["location"] == place


def test_agents_have_ids_modes_and_rules(client: Client, here: str) -> None:
    agents = {agent["id"]: agent for agent in of(client, "agent", here)}
    assert {"build", "plan", "explore"} <= set(agents)
    assert agents["explore"]["mode"] == "subagent"
    rule = agents["plan"]["permissions"][-1]
    assert set(rule) == {"action", "resource", "effect"}
    assert rule["effect"] in {"allow", "ask", "deny"}


def test_models_and_their_provider(client: Client, here: str) -> None:
    [provider] = of(client, "provider", here)
    assert (provider["id"], provider["name"]) == ("demo", "Scripted demo")
    assert client.get(f"/api/provider/demo?{here}").json()["data"] == provider
    missing = client.get(f"/api/provider/none?{here}")
    assert (missing.status_code, missing.json()["_tag"]) == (404, "ProviderNotFoundError")
    models = of(client, "model", here)
    assert "inline" in [model["id"] for model in models]
    for model in models:
        assert model["providerID"] == "demo"
        assert model["enabled"] is True
        assert {"context", "output"} <= set(model["limit"])
        assert isinstance(model["capabilities"]["tools"], bool)


def test_commands_and_skills(client: Client, here: str) -> None:
    assert "init" in [command["name"] for command in of(client, "command", here)]
    assert of(client, "skill", here) == []


def test_references_are_those_of_the_settings(client: Client, project: Project, here: str) -> None:
    project.config = {
        "references": {
            "docs": {"path": "docs", "description": "The manual"},
            "secret": {"path": "s", "hidden": True},
            "remote": "https://user:pass@example.com/x.git",
        }
    }
    project.save()
    assert of(client, "reference", here) == [
        {
            "name": "docs",
            "path": "docs",
            "description": "The manual",
            "source": {"type": "local", "path": "docs", "description": "The manual"},
        }
    ]


def test_a_key_is_set_by_admins_and_never_shown(
    client: Client, here: str, team: Team, bob: User, connect: Connect
) -> None:
    address = f"/api/integration/openai/connect/key?{here}"
    body = {"key": "sk-a-very-secret-key-9876"}
    assert connect(bob, Scope.WRITE).post(address, body, JSON).status_code == 403
    for _ in range(2):
        assert client.post(address, body, JSON).status_code == 204
    assert Credential.objects.filter(provider__team=team).count() == 1
    answer = client.get(f"/api/integration?{here}")
    assert b"very-secret" not in answer.content
    found = {one["id"]: one for one in answer.json()["data"]}
    [connection] = found["openai"]["connections"]
    assert connection["label"] == "…9876"
    assert [one["type"] for one in found["openai"]["methods"]] == ["oauth", "oauth", "key"]
    assert client.get(f"/api/integration/openai?{here}").json()["data"] == found["openai"]
    unknown = client.post(f"/api/integration/nobody/connect/key?{here}", body, JSON)
    assert unknown.status_code == 400


def test_a_key_is_forgotten_by_admins_of_its_team(
    client: Client, here: str, bob: User, charlie: User, connect: Connect
) -> None:
    client.post(f"/api/integration/openai/connect/key?{here}", {"key": "sk-secret-9876"}, JSON)
    [connection] = client.get(f"/api/integration/openai?{here}").json()["data"]["connections"]
    address = f"/api/credential/{connection['id']}?{here}"
    assert connect(bob).delete(address).status_code == 403
    globex = charlie.memberships.get().team
    assert connect(charlie, of=globex).delete(address).status_code == 404
    assert client.patch(address, {"label": "Ours"}, JSON).status_code == 204
    [renamed] = client.get(f"/api/integration/openai?{here}").json()["data"]["connections"]
    assert renamed["label"] == "Ours"
    assert client.delete(address).status_code == 204
    assert not Credential.objects.exists()
    for gone in (connection["id"], "cred_x", f"cred_{'9' * 30}"):
        assert client.delete(f"/api/credential/{gone}?{here}").status_code == 404


def test_the_model_of_a_command_is_named_as_models_are(
    client: Client, project: Project, here: str
) -> None:
    project.config = {"command": {"x": {"template": "t", "model": "demo/a/b"}}}
    project.save()
    [command] = [one for one in of(client, "command", here) if one["name"] == "x"]
    assert command["model"] == {"id": "a/b", "providerID": "demo"}
