from __future__ import annotations

import html
import json
import re
from collections.abc import Callable

import pytest
from django.http import HttpResponse
from django.test import Client

from sessions.agents.config_hints import config_hints
from sessions.models import Project
from teams.models import AuditEntry, Team, User
from tests.sessions.views.whole_settings import save_settings

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
URL = "/t/acme/settings/config"
SECRET = "s3cret-value"


@pytest.fixture
def configured(team: Team) -> Team:
    headers = {"Authorization": SECRET}
    team.config = {"mcp": {"x": {"type": "remote", "url": "u", "headers": headers}}}
    team.save()
    return team


def test_an_admin_changes_the_settings_of_the_team(
    configured: Team, adam: User, client_for: ClientFor
) -> None:
    browser = client_for(adam)
    page = html.unescape(browser.get(URL).content.decode())
    assert SECRET not in page
    text = page.split("<textarea", 1)[1].split(">", 1)[1].split("</textarea>", 1)[0]
    given = {**json.loads(text), "default_agent": "plan"}
    answer = save_settings(browser, URL, given)
    assert answer["Location"] == URL
    before = configured.config
    configured.refresh_from_db()
    assert configured.config == {**before, "default_agent": "plan"}
    assert AuditEntry.objects.filter(action="config.changed", actor_email=adam.email).exists()


def test_a_member_reads_them_masked_and_cannot_change_them(
    configured: Team, vera: User, client_for: ClientFor
) -> None:
    browser = client_for(vera)
    page = html.unescape(browser.get(URL).content.decode())
    assert "•••" in page
    assert SECRET not in page
    assert "Save settings" not in page
    assert browser.post(URL, {"config": "{}"}).status_code == 403


def test_wrong_settings_are_explained_and_nothing_is_saved(
    configured: Team, alice: User, client_for: ClientFor
) -> None:
    answer = save_settings(client_for(alice), URL, {**configured.config, "model": "noslash"})
    assert answer.status_code == 422
    assert "provider/model" in answer.content.decode()
    configured.refresh_from_db()
    assert "model" not in configured.config


def test_the_page_is_in_the_navigation(team: Team, vera: User, client_for: ClientFor) -> None:
    page = client_for(vera).get("/t/acme/settings/members").content.decode()
    assert f'href="{URL}"' in page


def test_saving_tells_what_has_no_effect(
    project: Project, alice: User, client_for: ClientFor
) -> None:
    config = {"modle": "demo/tour", "model": "nope/none", "theme": "x", "small_model": "demo/tour"}
    url = f"/t/acme/p/{project.pk}/settings"
    answer = save_settings(client_for(alice), url, config, follow=True)
    page = answer.content.decode()
    assert "Saved. Unknown keys were ignored: modle (did you mean" in page
    assert "Model nope/none is not set up." in page
    project.refresh_from_db()
    assert project.config == {key: value for key, value in config.items() if key != "modle"}


def test_hints_see_agents_and_the_teams_settings(project: Project, team: Team) -> None:
    assert config_hints(team, {}) == []
    agent: dict[str, object] = {"review": {"model": "demo/gone", "prompt": "x"}}
    found = config_hints(team, {"agent": agent, "default_agent": "nobody"})  # type: ignore[dict-item]
    assert found == ["Model demo/gone is not set up.", "There is no agent named nobody."]
    team.config = {"agent": {"nobody": {"prompt": "x"}}}
    assert config_hints(team, {"default_agent": "nobody"}) == []


FULL = {
    "mcp": {"weather": {"type": "local", "command": ["weather"]}, "b": {"enabled": False}},
    "permission": {"bash": {"*": "ask", "rm *": "deny"}, "edit": "ask"},
    "agent": {"reviewer": {"prompt": "x"}},
    "sharing": {"links": "team"},
}
GONE = "MCP servers weather and b, 3 permission rules, agent reviewer, sharing"


def agree(browser: Client, url: str, answer: HttpResponse, config: object) -> HttpResponse:
    page = answer.content.decode()
    fields = {
        name: re.search(rf'name="{name}" value="(\w+)"', page)[1]  # type: ignore[index]
        for name in ("seen", "agreed")
    }
    return browser.post(url, {"config": json.dumps(config), **fields})


def test_what_would_be_lost_is_agreed_to_first(
    team: Team, adam: User, client_for: ClientFor
) -> None:
    team.config = FULL
    team.save()
    browser, given = client_for(adam), {"nonsense": 1}
    answer = save_settings(browser, URL, given)
    page = html.unescape(answer.content.decode())
    assert answer.status_code == 422
    assert f"Nothing is saved yet. Saving removes: {GONE}." in page
    assert "Unknown keys were ignored: nonsense." in page
    assert '{"nonsense": 1}</textarea>' in page
    team.refresh_from_db()
    assert team.config == FULL
    assert not AuditEntry.objects.filter(action="config.changed").exists()
    # Agreed was to this, not to whatever is typed after it.
    other = agree(browser, URL, answer, {"sharing": FULL["sharing"]})
    assert other.status_code == 422
    assert agree(browser, URL, other, given).status_code == 422
    assert agree(browser, URL, answer, given)["Location"] == URL
    team.refresh_from_db()
    assert team.config == {}
    assert "Saved. Unknown keys were ignored: nonsense." in browser.get(URL).content.decode()


def test_a_project_does_not_lose_anything_unasked_either(
    project: Project, adam: User, client_for: ClientFor
) -> None:
    project.config = {"mcp": FULL["mcp"], "model": "demo/tour"}
    project.save()
    url, given = f"/t/acme/p/{project.pk}/settings", {"mcp": {"weather": FULL["mcp"]["weather"]}}
    answer = save_settings(client_for(adam), url, given)
    assert "Saving removes: MCP server b, model." in answer.content.decode()
    assert agree(client_for(adam), url, answer, given)["Location"] == url
    project.refresh_from_db()
    assert project.config == given


@pytest.mark.parametrize(
    "given",
    [
        {**FULL, "model": "demo/tour"},
        {**FULL, "permission": {"bash": {"*": "allow", "rm *": "deny"}, "edit": "deny"}},
        {**FULL, "sharing": {"links": "none"}},
    ],
)
def test_what_only_changes_is_saved_at_once(
    team: Team, adam: User, client_for: ClientFor, given: dict[str, object]
) -> None:
    team.config = FULL
    team.save()
    assert save_settings(client_for(adam), URL, given)["Location"] == URL
    team.refresh_from_db()
    assert team.config == given


def test_settings_that_somebody_else_has_changed_meanwhile_are_not_overwritten(
    team: Team, adam: User, client_for: ClientFor
) -> None:
    given = {"config": '{"model": "demo/tour"}', "seen": "0" * 16}
    answer = client_for(adam).post(URL, given)
    assert answer.status_code == 422
    assert "Someone else has changed this" in answer.content.decode()
    team.refresh_from_db()
    assert team.config == {}


def test_rules_that_cannot_be_read_are_mended(
    team: Team, adam: User, client_for: ClientFor
) -> None:
    team.config = {"permission": [{"tool": "bash"}]}
    team.save()
    given = {"permission": {"bash": "deny"}}
    assert save_settings(client_for(adam), URL, given)["Location"] == URL
    team.refresh_from_db()
    assert team.config == given
