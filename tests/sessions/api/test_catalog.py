from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from providers.actions import create_provider, set_key
from providers.connections import update_connection
from providers.kinds import ProviderKind
from sessions.models import McpServer, Project, Session
from sessions.wire import API_VERSION
from teams.models import Team, User
from tests.providers.test_clouds import make_bedrock
from tests.sessions.api.conftest import Connect
from tests.sessions.api.shapes import AGENT, PROVIDER, check
from tests.sessions.factories import add_demo_provider

KEY = "sk-test-0123456789abcdef"


def test_health_needs_no_sign_in(db: None) -> None:
    answer = Client().get("/global/health")
    assert answer.json() == {"healthy": True, "version": API_VERSION}


def test_providers_are_what_the_team_can_use(
    alice: User, team: Team, project: Project, connect: Connect
) -> None:
    row = create_provider(team, actor=alice, kind=ProviderKind.ANTHROPIC, name="Anthropic")
    client = connect(alice)
    listed = client.get("/provider").json()
    check(listed, {"all": [PROVIDER], "default": {"*": str}, "connected": [str]})
    assert [provider["id"] for provider in listed["all"]] == ["anthropic", "demo"]
    assert listed["connected"] == ["demo"]
    set_key(row, actor=alice, key=KEY)
    usable = client.get("/config/providers").json()
    check(usable, {"providers": [PROVIDER], "default": {"*": str}})
    # The scripted demo is nobody's first choice.
    assert [provider["id"] for provider in usable["providers"]] == ["anthropic", "demo"]
    for provider in usable["providers"]:
        assert usable["default"][provider["id"]] in provider["models"]
    for path in ("/provider", "/config/providers", "/config"):
        assert KEY not in client.get(path).content.decode()


def test_a_cloud_without_its_region_is_not_connected(
    alice: User, team: Team, project: Project, connect: Connect
) -> None:
    row = make_bedrock(team, "")
    assert connect(alice).get("/provider").json()["connected"] == ["demo"]
    update_connection(row, actor=alice, connection={"region": "us-east-1"}, secrets={})
    assert "amazon-bedrock" in connect(alice).get("/provider").json()["connected"]


def test_a_team_without_a_project_still_sees_its_providers(
    alice: User, team: Team, connect: Connect
) -> None:
    add_demo_provider(team)
    assert connect(alice).get("/provider").json()["connected"] == ["demo"]


def test_agents_have_their_rules(alice: User, project: Project, connect: Connect) -> None:
    agents = connect(alice).get("/agent").json()
    check(agents, [AGENT])
    assert [(agent["name"], agent["mode"], agent["hidden"]) for agent in agents] == [
        ("build", "primary", False),
        ("compaction", "primary", True),
        ("explore", "subagent", False),
        ("general", "subagent", False),
        ("plan", "primary", False),
        ("summary", "primary", True),
        ("title", "primary", True),
    ]
    explore = {agent["name"]: agent["permission"] for agent in agents}["explore"]
    assert {"permission": "*", "pattern": "*", "action": "deny"} in explore


def test_agents_follow_the_settings(alice: User, project: Project, connect: Connect) -> None:
    project.config = {"agent": {"scribe": {"description": "Writes", "mode": "primary"}}}
    project.save()
    names = [agent["name"] for agent in connect(alice).get("/agent").json()]
    assert "scribe" in names


@pytest.mark.parametrize(
    ("path", "empty"),
    [("/lsp", []), ("/formatter", []), ("/mcp", {})],
)
def test_what_is_not_offered_is_empty(
    path: str, empty: object, alice: User, project: Project, connect: Connect
) -> None:
    assert connect(alice).get(path).json() == empty


def test_formatters_say_whether_they_can_be_called(
    alice: User, project: Project, connect: Connect
) -> None:
    mine = {"command": [".venv/bin/mine", "$FILE"], "extensions": [".b", ".a"]}
    project.config = {"formatter": {"mine": mine, "ktlint": {"disabled": True}}}
    project.save()
    rows = {row["name"]: row for row in connect(alice).get("/formatter").json()}
    assert rows["mine"] == {"name": "mine", "extensions": [".a", ".b"], "enabled": False}
    assert "ktlint" not in rows
    program = Path(project.directory, ".venv/bin/mine")
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    rows = {row["name"]: row for row in connect(alice).get("/formatter").json()}
    assert rows["mine"]["enabled"] is True


@pytest.mark.parametrize("path", ["/provider", "/config/providers", "/agent"])
def test_queries_do_not_grow(
    path: str,
    alice: User,
    session: Session,
    team: Team,
    connect: Connect,
    django_assert_max_num_queries: Any,
) -> None:
    for number in range(3):
        create_provider(
            team,
            actor=alice,
            kind=ProviderKind.COMPATIBLE,
            name=f"Local {number}",
            base_url="http://127.0.0.1:9/v1",
            key=KEY,
        )
    client = connect(alice)
    client.get("/session")
    with django_assert_max_num_queries(7):
        assert client.get(path).status_code == 200


def test_mcp_servers_say_how_they_are(alice: User, project: Project, connect: Connect) -> None:
    local = {"type": "local", "command": ["serve"], "environment": {"TOKEN": "hidden-value"}}
    project.config = {"mcp": {"shop": local, "off": {**local, "enabled": False}}}
    project.save()
    answer = connect(alice).get("/mcp")
    assert answer.json()["off"] == {"status": "disabled"}
    assert answer.json()["shop"]["status"] == "failed"
    assert "not been asked yet" in answer.json()["shop"]["error"]
    assert "hidden-value" not in answer.content.decode()


def test_an_mcp_server_is_asked_again(alice: User, project: Project, connect: Connect) -> None:
    off = {"command": ["serve"], "enabled": False}
    project.config = {"mcp": {"shop": {"command": ["serve"]}, "off": off}}
    project.save()
    McpServer.objects.create(project=project, name="shop", asked_at=timezone.now())
    assert connect(alice).post("/mcp/shop/connect").json() is True
    assert not McpServer.objects.exists()
    assert connect(alice).post("/mcp/other/connect").status_code == 404
