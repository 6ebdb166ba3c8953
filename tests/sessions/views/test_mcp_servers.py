from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import resolve
from django.utils import timezone

from sessions.config.programs import McpConfig
from sessions.mcp.servers import digest_of
from sessions.models import McpProgram, McpServer, Project
from teams.models import AuditEntry, Team, User

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]
ClientFor = Callable[[User | None], Client]
TEAM = "/t/acme/settings/mcp/"
SHOP = {
    "name": "shop",
    "type": "local",
    "command": "npx -y 'mcp shop'",
    "timeout": "30",
    "enabled": "on",
}
STORED = {"type": "local", "command": ["npx", "-y", "mcp shop"], "enabled": True}


def page_of(browser: Client, url: str) -> str:
    return html.unescape(browser.get(url).content.decode())


def send(browser: Client, url: str, /, **given: str) -> Any:
    seen = re.search(r'name="seen" value="(\w+)"', page_of(browser, url))
    assert seen is not None
    return browser.post(url, {"seen": seen[1], **given})


def pages(project: Project) -> str:
    return f"/t/acme/p/{project.pk}/mcp"


def hear(project: Project, name: str, **said: Any) -> McpServer:
    server = McpConfig.model_validate(project.config["mcp"][name])
    return McpServer.objects.create(
        project=project, name=name, digest=digest_of(server), asked_at=timezone.now(), **said
    )


def test_a_server_of_a_team_is_added_changed_and_removed(
    team: Team, adam: User, client_for: ClientFor
) -> None:
    """FEAT-0008 FR-03."""
    browser = client_for(adam)
    made = send(browser, TEAM + "new", **SHOP, environment="TOKEN={env:TOKEN}\n\nPORT = 80")
    assert made["Location"] == TEAM
    team.refresh_from_db()
    environment = {"TOKEN": "{env:TOKEN}", "PORT": "80"}
    assert team.config["mcp"] == {"shop": {**STORED, "environment": environment}}
    entry = AuditEntry.objects.get(action="config.changed")
    assert entry.data == {"keys": ["mcp"], "servers": ["shop"]}
    page = page_of(browser, TEAM)
    assert "npx -y 'mcp shop'" in page
    assert "TOKEN, PORT" in page
    page = page_of(browser, TEAM + "s/shop")
    assert "TOKEN={env:TOKEN}" in page
    send(browser, TEAM + "s/shop", name="shop", type="local", command="shop", timeout="5")
    team.refresh_from_db()
    changed = {"type": "local", "command": ["shop"], "timeout": 5000, "enabled": False}
    assert team.config["mcp"] == {"shop": changed}
    assert "Remove shop?" in page_of(browser, TEAM + "s/shop/delete")
    browser.post(TEAM + "s/shop/delete")
    assert "mcp" not in Team.objects.get(pk=team.pk).config


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": "two words"}, "only contain letters, digits"),
        ({"name": "there"}, "name is already in use"),
        ({"name": "below"}, "name is already in use"),
        ({"command": "npx 'x"}, "not closed"),
        ({"command": ""}, "Enter a program"),
        ({"type": "other"}, "not one of the available choices"),
        ({"type": "remote"}, "it must start with http"),
        ({"type": "remote", "url": "https://u:p@example.org"}, "user name or password"),
        ({"type": "remote", "url": "https://a.b", "headers": "X"}, "Line 1: use the form Name"),
        (
            {"type": "remote", "url": "https://a.b", "headers": "X-Api-Key: abc"},
            "X-Api-Key: {env:X_API_KEY}",
        ),
        ({"timeout": "0"}, "greater than or equal to 1"),
        ({"environment": "JUST_A_NAME"}, "Line 1: use the form NAME=value"),
        ({"environment": "A=1\n1B=2"}, "Line 2: use the form NAME=value"),
        ({"environment": "SHOP_TOKEN=abc"}, "SHOP_TOKEN={env:SHOP_TOKEN}"),
        ({"seen": "0" * 16}, "Someone else"),
    ],
)
def test_what_is_wrong_with_a_server_is_said(
    team: Team,
    adam: User,
    client_for: ClientFor,
    monkeypatch: pytest.MonkeyPatch,
    given: dict[str, str],
    said: str,
) -> None:
    below = {"mcp": {"below": {"command": ["x"]}}}
    monkeypatch.setattr("sessions.present.pages.mcp.servers.instance_config", lambda: below)
    there = {"mcp": {"there": {"command": ["x"]}}}
    team.config = there
    team.save()
    answer = send(client_for(adam), TEAM + "new", **{**SHOP, **given})
    assert answer.status_code == 422
    assert said in html.unescape(answer.content.decode())
    team.refresh_from_db()
    assert team.config == there


def test_a_value_that_can_be_a_secret_is_on_no_page_and_stays(
    team: Team, adam: User, bob: User, client_for: ClientFor
) -> None:
    """FEAT-0008 NFR-02."""
    environment = {"API_KEY": "plain-words", "URL": "postgres://u:pw@h/d", "PORT": "8080"}
    known = {"command": ["x"], "environment": environment, "timeout": 1500, "oauth": False}
    team.config = {"mcp": {"old": known}}
    team.save()
    browser = client_for(adam)
    page = page_of(browser, TEAM + "s/old")
    assert "API_KEY=•••\nURL=•••\nPORT=8080" in page
    for shown in (page, page_of(browser, TEAM), page_of(client_for(bob), TEAM)):
        assert "plain-words" not in shown
        assert "postgres" not in shown
    kept = "API_KEY=•••\nURL=•••"
    send(
        browser,
        TEAM + "s/old",
        name="old",
        type="local",
        command="y",
        timeout="1",
        environment=kept,
    )
    team.refresh_from_db()
    del environment["PORT"]
    assert team.config["mcp"]["old"] == {
        **known,
        "type": "local",
        "command": ["y"],
        "enabled": False,
        "environment": environment,
    }


def test_a_server_at_an_address_has_headers_and_no_command(
    team: Team, adam: User, client_for: ClientFor
) -> None:
    browser = client_for(adam)
    given = {**SHOP, "type": "remote", "url": "https://mcp.example.org/mcp", "environment": "A=1"}
    lines = "Authorization: Bearer {env:TOKEN}\nX-Mode: fast-and-loose"
    send(browser, TEAM + "new", **given, headers=lines)
    team.refresh_from_db()
    headers = {"Authorization": "Bearer {env:TOKEN}", "X-Mode": "fast-and-loose"}
    stored = {
        "type": "remote",
        "url": "https://mcp.example.org/mcp",
        "headers": headers,
        "enabled": True,
    }
    assert team.config["mcp"] == {"shop": stored}
    page = page_of(browser, TEAM + "s/shop")
    assert "Bearer {env:TOKEN}\nX-Mode: •••" in page
    assert "https://mcp.example.org/mcp" in page_of(browser, TEAM)


def test_files_of_the_project_are_accepted_as_they_were_shown(
    project: Project, adam: User, bob: User, client_for: ClientFor
) -> None:
    file = Path(project.directory, "server.py")
    file.write_text("print(1)")
    project.config = {"mcp": {"shop": {"command": ["python3", "server.py"]}}}
    project.save()
    hear(project, "shop", error="It runs server.py")
    url = pages(project)
    page = page_of(client_for(bob), url)
    assert "It runs server.py of this project, which agents can change." in page
    assert "Not accepted yet" in page
    assert "Accept" not in page
    assert client_for(bob).post(f"{url}/s/shop/accept").status_code == 403
    browser = client_for(adam)
    shown = re.search(r'name="digest" value="(\w+)"', page_of(browser, url))
    assert shown is not None
    file.write_text("print(2)")
    assert browser.post(f"{url}/s/shop/accept", {"digest": shown[1]}).status_code == 409
    file.write_text("print(1)")
    browser.post(f"{url}/s/shop/accept", {"digest": shown[1]})
    # Nothing that it said before holds.
    assert not McpServer.objects.exists()
    entry = AuditEntry.objects.get(action="mcp.program_accepted")
    assert entry.data == {"server": "shop", "files": ["server.py"], "digest": shown[1]}
    assert "server.py, accepted by " in page_of(client_for(bob), url)
    file.write_text("print(2)")
    assert "changed since it was accepted" in page_of(client_for(bob), url)


ODD_NAMES = [
    "my shop",
    "@acme/shop",
    "shop/accept",
    "läden",
    "..",
    "a.b",
    "50%",
    "q?x=1#y",
    "~c2hvcA",
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_server_of_any_name_that_can_be_saved_can_be_accepted_and_changed(
    project: Project, adam: User, client_for: ClientFor, name: str
) -> None:
    Path(project.directory, "server.py").write_text("print(1)")
    browser, url = client_for(adam), pages(project)
    body = {"mcp": {name: {"command": ["python3", "server.py"]}}}
    saved = browser.patch(
        "/config",
        body,
        content_type="application/json",
        headers={"x-opencode-directory": project.directory},
    )
    assert saved.status_code == 200, saved.content

    def action(act: str) -> str:
        found = re.search(rf'"({re.escape(url)}/s/[^/"]+{act})"', page_of(browser, url))
        assert found is not None
        return found[1]

    digest = re.search(r'name="digest" value="(\w+)"', page_of(browser, url))
    assert digest is not None
    accepted = browser.post(action("/accept"), {"digest": digest[1]}, follow=True)
    assert "server.py, accepted by " in accepted.content.decode()
    assert McpProgram.objects.get().name == name

    project.refresh_from_db()
    hear(project, name, tools=[])
    assert browser.post(action("/again")).status_code == 302
    assert not McpServer.objects.exists()
    send(browser, action(""), name=name, type="local", command="other", timeout="30")
    project.refresh_from_db()
    assert project.config["mcp"][name]["command"] == ["other"]
    browser.post(action("/enabled"), {"enabled": "1"})
    browser.post(action("/delete"))
    project.refresh_from_db()
    assert "mcp" not in project.config


def test_a_server_at_an_address_of_an_odd_name_can_be_signed_in_to(
    project: Project, adam: User, client_for: ClientFor
) -> None:
    project.config = {"mcp": {"acme/shop": {"url": "https://mcp.example.org/mcp"}}}
    project.save()
    browser, url = client_for(adam), pages(project)
    found = re.search(r'action="([^"]+/sign-in)"', page_of(browser, url))
    assert found is not None
    assert resolve(found[1]).kwargs["name"] == "acme/shop"


@pytest.mark.parametrize("coded", ["~", "~!!", "~_w", "~a"])
def test_an_address_that_is_no_name_is_not_found(
    project: Project, adam: User, client_for: ClientFor, coded: str
) -> None:
    assert client_for(adam).get(f"{pages(project)}/s/{coded}").status_code == 404


def test_a_server_of_the_team_says_where_its_files_are_to_be_accepted(
    project: Project, adam: User, client_for: ClientFor
) -> None:
    Path(project.directory, "weather.py").write_text("print(1)")
    browser, own = client_for(adam), pages(project)
    send(browser, TEAM + "new", **{**SHOP, "name": "weather", "command": "python3 weather.py"})
    page = page_of(browser, TEAM)
    assert "weather saved. It runs files of a project, so an admin has to accept them there" in page
    assert f'<a href="{own}">{project.name}</a> · <span class="mono">weather.py</span>' in page
    shown = re.search(r'name="digest" value="(\w+)"', page_of(browser, own))
    assert shown is not None
    browser.post(f"{own}/s/weather/accept", {"digest": shown[1]})
    assert "has to accept there first" not in page_of(browser, TEAM)
    send(browser, TEAM + "new", **{**SHOP, "name": "plain", "command": "weather --now"})
    assert "plain saved. Its tools are loaded with the next turn." in page_of(browser, TEAM)


def test_a_server_of_the_team_is_switched_off_for_one_project(
    team: Team, project: Project, adam: User, client_for: ClientFor
) -> None:
    team.config = {"mcp": {"shop": {"command": ["x"]}}}
    team.save()
    browser, url = client_for(adam), pages(project)
    browser.post(f"{url}/s/shop/enabled", {"enabled": "0"})
    project.refresh_from_db()
    assert project.config == {"mcp": {"shop": {"enabled": False}}}
    page = page_of(browser, url)
    assert "From the team" in page
    assert "Turn on" in page
    assert f'href="{url}/s/shop"' not in page
    browser.post(f"{url}/s/shop/enabled", {"enabled": "1"})
    project.refresh_from_db()
    assert project.config == {}
    browser.post(TEAM + "s/shop/enabled", {"enabled": "0"})
    team.refresh_from_db()
    assert team.config == {"mcp": {"shop": {"command": ["x"], "enabled": False}}}


def test_a_project_says_how_its_servers_are(
    project: Project, adam: User, bob: User, vera: User, client_for: ClientFor
) -> None:
    """FEAT-0008 FR-03."""
    names = ("good", "bad", "new", "off", "apply")
    servers = {name: {"command": [name], "enabled": name != "off"} for name in names}
    project.config = {"mcp": servers}
    project.save()
    tool = {"name": "good_stock", "remote": "stock", "description": "Says <b>", "parameters": {}}
    hear(project, "good", tools=[tool], problems=["There is a built-in tool good_x."])
    hear(project, "bad", error="The server exited without a response: <i>lost</i>")
    raw = client_for(bob).get(pages(project)).content.decode()
    page = html.unescape(raw)
    for said in ("Connected", "1 tool", "good_stock", "built-in tool good_x", "Not checked yet"):
        assert said in page
    assert "Says &lt;b&gt;" in raw
    assert "The server exited without a response: &lt;i&gt;" in raw
    assert "Names of built-in tools begin with apply_" in page
    assert "Remove" not in page
    settings = page_of(client_for(bob), f"/t/acme/p/{project.pk}/settings")
    assert "good, bad, new, off, apply" in settings
    assert "Check again" not in page_of(client_for(vera), pages(project))
    client_for(bob).post(f"{pages(project)}/s/good/again")
    assert McpServer.objects.get().name == "bad"
    page = page_of(client_for(adam), TEAM)
    assert "apply, bad, good, new, off" in page


def test_what_a_removed_server_said_is_forgotten(
    team: Team, project: Project, adam: User, client_for: ClientFor
) -> None:
    team.config = {"mcp": {"gone": {"command": ["x"]}, "stays": {"command": ["x"]}}}
    team.save()
    project.config = {"mcp": {"own": {"command": ["x"]}, "stays": {"timeout": 1}}}
    project.save()
    for name in ("gone", "stays", "own"):
        McpServer.objects.create(project=project, name=name, asked_at=timezone.now())
    browser = client_for(adam)
    browser.post(TEAM + "s/gone/delete")
    browser.post(TEAM + "s/stays/delete")
    assert set(McpServer.objects.values_list("name", flat=True)) == {"stays", "own"}
    browser.post(f"{pages(project)}/s/own/delete")
    assert [row.name for row in McpServer.objects.all()] == ["stays"]


def test_a_name_that_no_page_can_have_is_listed(
    team: Team, project: Project, adam: User, client_for: ClientFor
) -> None:
    team.config = {"mcp": {"a/b": {"command": ["x"]}, "": {"command": ["y"]}}}
    team.save()
    for url in (TEAM, pages(project)):
        assert "a/b" in page_of(client_for(adam), url)


def test_the_list_takes_few_queries(
    project: Project, bob: User, client_for: ClientFor, django_assert_num_queries: Any
) -> None:
    project.config = {"mcp": {f"s{number}": {"command": ["x"]} for number in range(8)}}
    project.save()
    for name in project.config["mcp"]:
        hear(project, name)
    browser = client_for(bob)
    page_of(browser, pages(project))
    with django_assert_num_queries(QUERIES):
        page_of(browser, pages(project))


QUERIES = 11


def test_a_server_may_ask_the_model_when_an_admin_says_so(
    team: Team, adam: User, client_for: ClientFor
) -> None:
    browser = client_for(adam)
    for policy, said in (("ask", "each time with permission"), ("allow", "Can ask the model.")):
        send(browser, TEAM + ("new" if policy == "ask" else "s/shop"), **SHOP, sampling=policy)
        team.refresh_from_db()
        assert team.config["mcp"]["shop"]["sampling"] == policy
        assert said in page_of(browser, TEAM)
        assert f'value="{policy}" selected' in page_of(browser, TEAM + "s/shop")
    send(browser, TEAM + "s/shop", **SHOP, sampling="never")
    team.refresh_from_db()
    assert team.config["mcp"] == {"shop": STORED}
    assert "ask the model" not in page_of(browser, TEAM)
