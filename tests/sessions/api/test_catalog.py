from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from providers.actions import create_provider, set_key, set_key_of
from providers.connections import update_connection
from providers.kinds import ProviderKind
from providers.llm.messages import ModelRef
from providers.resolve import resolve_model
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
    assert [one["id"] for one in listed["all"] if one["models"]] == ["anthropic", "demo"]
    # Those that a client can offer to connect come after them, without models.
    assert {"openai", "github-copilot"} <= {one["id"] for one in listed["all"][2:]}
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


def ids_of(answer: Any) -> list[str]:
    return [one["id"] for one in answer["all"]]


@pytest.fixture
def three(alice: User, team: Team, project: Project) -> None:
    """Two with a key and hundreds of models, one without; and the demo."""
    set_key_of(team, "openrouter", key=KEY, actor=alice)
    set_key_of(team, "openai", key=KEY, actor=alice)
    create_provider(team, actor=alice, kind=ProviderKind.ANTHROPIC, name="Anthropic")


@pytest.mark.usefixtures("three")
def test_a_provider_that_cannot_be_used_has_its_default_alone(
    alice: User, connect: Connect
) -> None:
    listed = connect(alice).get("/provider").json()
    models = {one["id"]: one["models"] for one in listed["all"]}
    assert [*models["anthropic"]] == [listed["default"]["anthropic"]]
    assert len(models["openrouter"]) > 200
    usable = connect(alice).get("/config/providers").json()["providers"]
    assert {one["id"] for one in usable} == {"openrouter", "openai", "demo"}


@pytest.mark.usefixtures("three")
def test_scripts_read_it_in_pages(alice: User, connect: Connect) -> None:
    client, seen, url = connect(alice), list[str](), "/provider?connected=true&limit=2"
    while url:
        answer = client.get(url)
        seen += ids_of(answer.json())
        assert set(answer.json()["default"]) == set(ids_of(answer.json()))
        cursor = answer.headers.get("X-Next-Cursor", "")
        assert (f"cursor={cursor}" in answer.headers.get("Link", "")) == bool(cursor)
        url = f"/provider?connected=true&limit=2&cursor={cursor}" if cursor else ""
    assert seen == ["openai", "openrouter", "demo"]
    assert client.get("/provider?cursor=nobody").status_code == 400
    assert client.get("/provider?limit=-1").status_code == 400


@pytest.mark.usefixtures("three")
def test_it_can_be_searched_and_narrowed(alice: User, connect: Connect) -> None:
    client = connect(alice)
    connected = client.get("/provider?connected=true").json()
    assert ids_of(connected) == ["openai", "openrouter", "demo"]
    found = client.get("/provider?query=claude%20opus").json()
    assert ids_of(found) == ["anthropic", "openrouter"]
    assert len(found["all"][0]["models"]) > 1
    for one in found["all"]:
        assert all("opus" in key.lower() for key in one["models"])
    assert ids_of(client.get("/provider?query=nothing-like-it").json()) == []


def test_a_model_that_the_team_hides_is_in_no_list_and_can_be_named(
    alice: User, team: Team, project: Project, connect: Connect
) -> None:
    set_key_of(team, "openai", key=KEY, actor=alice)
    team.config = {"provider": {"openai": {"models": {"gpt-6-sol": {"status": "hidden"}}}}}
    team.save()
    listed = connect(alice).get("/provider").json()
    openai = next(one for one in listed["all"] if one["id"] == "openai")
    assert "gpt-6-sol" not in openai["models"]
    assert listed["default"]["openai"] in openai["models"]
    assert resolve_model(team, ModelRef("openai", "gpt-6-sol")).name


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
    with django_assert_max_num_queries(8):
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
