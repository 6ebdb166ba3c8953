from __future__ import annotations

import json
from typing import Any

import pytest

from providers.models import Credential, ProviderConfig
from sessions.actions.settings import apply_patch
from sessions.models import Project
from teams.models import AuditEntry, Scope, Team, User
from tests.factories import make_team
from tests.sessions.api.conftest import Connect
from tests.sessions.api.shapes import ERROR, check

JSON = "application/json"
KEY = "sk-test-0123456789abcdef"
LOCAL = {
    "npm": "@ai-sdk/openai-compatible",
    "options": {"baseURL": "http://127.0.0.1:9/v1", "apiKey": KEY},
    "models": {"m-1": {"name": "M one"}},
}


def test_the_team_and_the_project_have_settings_of_their_own(
    alice: User, team: Team, project: Project, connect: Connect
) -> None:
    client = connect(alice)
    assert client.patch("/global/config", {"model": "demo/tour"}, JSON).json() == {
        "share": "manual",
        "model": "demo/tour",
    }
    path = f"/config?directory={project.directory}"
    own = client.patch(path, {"model": "demo/inline", "instructions": ["RULES.md"]}, JSON)
    assert own.json() == {"model": "demo/inline", "instructions": ["RULES.md"]}
    team.refresh_from_db()
    project.refresh_from_db()
    assert team.config == {"model": "demo/tour"}
    assert project.config == {"model": "demo/inline", "instructions": ["RULES.md"]}
    assert client.get(path).json()["model"] == "demo/inline"
    assert client.get("/config?team=acme").json()["model"] == "demo/tour"
    assert client.get("/global/config").json()["model"] == "demo/tour"
    assert client.put("/config", {"model": None}, JSON).json() == {"instructions": ["RULES.md"]}
    client.put("/config", {"model": "demo/inline"}, JSON)
    changes = AuditEntry.objects.filter(action="config.changed").order_by("pk")
    assert [entry.data["keys"] for entry in changes] == [
        ["model"],
        ["instructions", "model"],
        ["model"],
        ["model"],
    ]


def test_a_key_is_kept_as_a_credential_and_never_told(
    alice: User, team: Team, project: Project, connect: Connect
) -> None:
    client = connect(alice)
    answer = client.patch("/global/config", {"provider": {"local": LOCAL}}, JSON)
    assert answer.status_code == 200
    assert answer.json()["provider"]["local"]["models"] == LOCAL["models"]
    row = ProviderConfig.objects.get(provider_id="local")
    assert Credential.objects.get(provider=row).last4 == "cdef"
    team.refresh_from_db()
    stored = json.dumps(team.config) + json.dumps(list(AuditEntry.objects.values_list("data")))
    for text in (answer.content.decode(), client.get("/config").content.decode(), stored):
        assert KEY not in text
    assert "m-1" in client.get("/config/providers").content.decode()


@pytest.mark.parametrize(
    ("patch", "where"),
    [
        ({"model": "no-slash"}, "model"),
        ({"permission": {"bash": "maybe"}}, "permission"),
        ({"agent": {"build": {"temperature": 9}}}, "agent.build.temperature"),
        ({"provider": {"x": {"options": {"apiKey": "{env:SECRET}"}}}}, "apiKey"),
        ({"provider": {"x": {"options": {"headers": {"Authorization": "x"}}}}}, "Authorization"),
    ],
)
def test_wrong_settings_change_nothing(
    patch: dict[str, Any], where: str, alice: User, team: Team, connect: Connect
) -> None:
    answer = connect(alice).patch("/global/config", {"instructions": ["a.md"], **patch}, JSON)
    assert answer.status_code == 400
    check(answer.json(), ERROR)
    assert where in answer.json()["data"]["message"]
    team.refresh_from_db()
    assert team.config == {}
    assert not ProviderConfig.objects.exists()


def test_null_removes(alice: User, team: Team, connect: Connect) -> None:
    client = connect(alice)
    client.patch("/global/config", {"model": "demo/tour", "permission": {"bash": "deny"}}, JSON)
    left = client.patch("/global/config", {"model": None}, JSON).json()
    assert left == {"share": "manual", "permission": {"bash": "deny"}}


@pytest.mark.parametrize("name", ["bob", "vera"])
def test_members_and_viewers_read_settings_only(
    name: str, project: Project, connect: Connect, request: pytest.FixtureRequest
) -> None:
    client = connect(request.getfixturevalue(name))
    assert client.get("/config").status_code == 200
    for path in ("/global/config", f"/config?project={project.pk}"):
        assert client.patch(path, {"model": "demo/tour"}, JSON).status_code == 403


def test_a_write_token_does_not_change_settings(
    alice: User, project: Project, connect: Connect
) -> None:
    client = connect(alice, Scope.WRITE)
    assert client.patch("/global/config", {"model": "demo/tour"}, JSON).status_code == 403


def test_a_person_of_two_teams_says_which(alice: User, team: Team, client_for: Any) -> None:
    make_team(alice, name="Initech", slug="initech")
    browser = client_for(alice)
    assert browser.patch("/global/config", {"model": "demo/tour"}, JSON).status_code == 400
    named = browser.patch("/config?team=initech", {"model": "demo/tour"}, JSON)
    assert named.json() == {"model": "demo/tour"}
    assert browser.patch("/config?team=globex", {}, JSON).status_code == 404


def test_what_servers_are_sent_is_masked(alice: User, team: Team, connect: Connect) -> None:
    team.config = {"mcp": {"x": {"type": "remote", "url": "u", "headers": {"Authorization": KEY}}}}
    team.save()
    shown = connect(alice).get("/config").json()
    assert shown["mcp"]["x"]["headers"] == {"Authorization": "•••"}
    assert shown["mcp"]["x"]["url"] == "u"


def test_a_merge_patch(subtests: pytest.Subtests) -> None:
    cases = [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": None}}, {"a": {"c": 2}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": 1}, {"a": {"b": {"c": None, "d": 1}}}, {"a": {"b": {"d": 1}}}),
        ({}, {"a": None}, {}),
    ]
    for base, patch, result in cases:
        with subtests.test(patch=patch):
            assert apply_patch(base, patch) == result


@pytest.mark.parametrize("name", ["alice", "bob", "vera"])
def test_nobody_reads_headers_of_a_provider(
    name: str, team: Team, connect: Connect, request: pytest.FixtureRequest
) -> None:
    options = {"baseURL": "http://x/v1", "headers": {"X-Tenant": KEY}, "accessKey": KEY}
    models = {"m-1": {"headers": {"X-Tenant": KEY}, "options": {"authToken": KEY}}}
    block = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": models}
    team.config = {"provider": {"mine": block}}
    team.save()
    client = connect(request.getfixturevalue(name))
    answer = client.get("/config")
    for path in ("/config", "/config/providers", "/provider"):
        assert KEY not in client.get(path).content.decode()
    assert "mine" in client.get("/provider").content.decode()
    assert answer.json()["provider"]["mine"]["options"]["baseURL"] == "http://x/v1"


def test_settings_that_are_sent_back_masked_keep_their_secrets(
    alice: User, team: Team, connect: Connect
) -> None:
    client = connect(alice)
    stored = {"mcp": {"x": {"type": "remote", "url": "u", "headers": {"Authorization": KEY}}}}
    team.config = stored
    team.save()
    given = client.get("/config").json()
    given["mcp"]["x"]["url"] = "v"
    answer = client.patch("/global/config", given, JSON)
    assert answer.status_code == 200
    assert KEY not in answer.content.decode()
    team.refresh_from_db()
    assert team.config["mcp"]["x"] == {**stored["mcp"]["x"], "url": "v"}  # type: ignore[dict-item]
