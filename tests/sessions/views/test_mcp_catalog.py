from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from sessions.mcp.catalog import catalog
from sessions.models import ProjectSecret, TeamSecret
from sessions.secrets import project_redactor
from teams.models import Team, User
from tests.sessions.factories import make_project

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
LISTED = {
    "servers": [
        {
            # As a registry's API lists them.
            "server": {
                "name": "com.example/shop",
                "title": "Shop",
                "description": "Stock of a shop.",
                "packages": [
                    {"registryType": "oci", "identifier": "shop", "transport": {"type": "stdio"}},
                    {
                        "registryType": "npm",
                        "identifier": "@example/shop",
                        "version": "1.2.3",
                        "transport": {"type": "stdio"},
                        "packageArguments": [
                            {"type": "named", "name": "--place", "default": "north"},
                            {"type": "positional", "valueHint": "shelf", "isRequired": True},
                        ],
                        "environmentVariables": [
                            {"name": "SHOP_KEY", "isSecret": True, "description": "From the till."},
                            {"name": "LANGUAGE", "value": "en"},
                            {"name": "OPTIONAL"},
                        ],
                    },
                ],
            },
            "_meta": {"x": {"status": "active"}},
        },
        {
            "name": "com.example/orders",
            "description": "Orders.",
            "remotes": [
                {
                    "type": "streamable-http",
                    "url": "https://{region}.example.com/mcp",
                    "variables": {"region": {"default": "eu"}},
                    "headers": [
                        {
                            "name": "Authorization",
                            "value": "Bearer {key}",
                            "variables": {"key": {"isSecret": True}},
                        }
                    ],
                }
            ],
        },
        {"name": "com.example/container", "packages": [{"registryType": "oci", "identifier": "x"}]},
        {"name": 5},
        "no server",
    ]
}


@pytest.fixture
def listed(tmp_path: Path, settings: Settings) -> Path:
    path = tmp_path / "servers.json"
    path.write_text(json.dumps(LISTED))
    settings.MCP_CATALOG = str(path)
    return path


def seen_in(page: str) -> str:
    found = re.search(r'name="seen" value="([^"]*)"', page)
    assert found is not None
    return found[1]


def test_a_known_server_is_found_and_set_up_with_its_secret(
    listed: Path, team: Team, adam: User, client_for: ClientFor, tmp_path: Path
) -> None:
    """FEAT-0008 FR-03."""
    project = make_project(team, tmp_path / "shop")
    browser, base = client_for(adam), f"/t/acme/p/{project.pk}/mcp/"
    page = browser.get(base + "catalog?q=SHOP+stock").content.decode()
    assert "@example/shop@1.2.3" in page
    assert "com.example/orders" not in page
    url = base + "new?from=com.example%2Fshop"
    assert url in page
    page = browser.get(url).content.decode()
    assert "npx -y @example/shop@1.2.3 --place north" in page
    assert "From the till." in page
    sent = {
        "name": "shop",
        "type": "local",
        "command": "npx -y @example/shop@1.2.3 --place north 7",
        "environment": "SHOP_KEY={env:SHOP_KEY}\nLANGUAGE=en",
        "timeout": "30",
        "enabled": "on",
        "seen": seen_in(page),
        "secret_SHOP_KEY": "till-9f2c77",
    }
    assert browser.post(url, sent).status_code == 302
    project.refresh_from_db()
    assert project.config["mcp"] == {
        "shop": {
            "type": "local",
            "command": ["npx", "-y", "@example/shop@1.2.3", "--place", "north", "7"],
            "environment": {"SHOP_KEY": "{env:SHOP_KEY}", "LANGUAGE": "en"},
            "enabled": True,
        }
    }
    assert ProjectSecret.objects.get().name == "SHOP_KEY"
    assert project_redactor(project.pk).secrets == {"SHOP_KEY": "till-9f2c77"}


def test_what_is_wrong_is_said_and_no_value_is_shown_again(
    listed: Path, team: Team, adam: User, client_for: ClientFor
) -> None:
    browser, url = client_for(adam), "/t/acme/settings/mcp/new?from=com.example%2Forders"
    page = browser.get(url).content.decode()
    assert "https://eu.example.com/mcp" in page
    assert "Authorization: Bearer {env:ORDERS_KEY}" in page
    sent = {
        "name": "orders",
        "type": "remote",
        "url": "https://eu.example.com/mcp",
        "headers": "Authorization: Bearer {env:ORDERS_KEY}",
        "timeout": "30",
        "seen": seen_in(page),
        "secret_ORDERS_KEY": "abc",
    }
    answered = browser.post(url, sent)
    assert answered.status_code == 422
    assert 'value="abc"' not in answered.content.decode()
    team.refresh_from_db()
    assert "mcp" not in team.config
    # One that is there already is used.
    assert browser.post(url, {**sent, "secret_ORDERS_KEY": ""}).status_code == 302
    assert not TeamSecret.objects.exists()


def test_a_changed_file_is_read_again_and_a_broken_one_lists_nothing(
    listed: Path, adam: User, client_for: ClientFor
) -> None:
    assert [one.id for one in catalog()] == ["com.example/shop", "com.example/orders"]
    listed.write_text("[" * 100_000)
    assert catalog() == ()
    assert client_for(adam).get("/t/acme/settings/mcp/catalog").status_code == 200


def test_those_that_come_along_can_all_be_set_up(team: Team, settings: Settings) -> None:
    settings.MCP_CATALOG = ""
    entries = catalog()
    written = Path("sessions/mcp/catalog.json").read_text().count('"title"')
    assert len(entries) == written > 5
    assert all("<" not in entry.runs for entry in entries)


def test_what_a_list_says_neither_hides_a_value_nor_takes_a_secret(
    tmp_path: Path, settings: Settings, adam: User, client_for: ClientFor
) -> None:
    """FEAT-0008 NFR-02."""

    def remote(name: str, value: str, **more: object) -> dict[str, object]:
        headers = [{"name": "X-Mode", "value": value, **more}]
        at = {"type": "sse", "url": "https://mcp.example.com/", "headers": headers}
        return {"name": f"x/{name}", "remotes": [at]}

    def package(name: str, identifier: str, version: str = "1") -> dict[str, object]:
        given = {"registryType": "npm", "identifier": identifier, "version": version}
        return {"name": f"x/{name}", "packages": [{**given, "transport": {"type": "stdio"}}]}

    entries = [
        remote("plain", "something long enough"),
        remote("takes", "Bearer {env:GITHUB_TOKEN}"),
        remote("takes-in-two", "{en{v}", variables={"v": {"value": "v:GITHUB_TOKEN}"}}),
        remote("reads", "{file:/etc/passwd}"),
        remote("more", "something\nAuthorization: Bearer x"),
        package("option", "--call=sh"),
        package("path", "./tools"),
        package("elsewhere", "shop", "git+https://evil.example/x"),
        package("good", "@example/shop", "1.2.3-beta.1"),
    ]
    path = tmp_path / "servers.json"
    path.write_text(json.dumps(entries))
    settings.MCP_CATALOG = str(path)
    assert [one.id for one in catalog()] == ["x/plain", "x/good"]
    page = client_for(adam).get("/t/acme/settings/mcp/new?from=x%2Fplain").content.decode()
    assert "X-Mode: something long enough" in page
