from __future__ import annotations

import html
import json
from collections.abc import Callable

import pytest
from django.test import Client

from sessions.config_hints import config_hints
from sessions.models import Project
from teams.models import AuditEntry, Team, User

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
    answer = browser.post(URL, {"config": json.dumps(given)})
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
    answer = client_for(alice).post(URL, {"config": '{"model": "noslash"}'})
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
    browser = client_for(alice)
    page = browser.post(url, {"config": json.dumps(config)}, follow=True).content.decode()
    assert "Saved. Not known here: modle (did you mean" in page
    assert "Model nope/none is not set up." in page
    project.refresh_from_db()
    assert project.config == config
    assert "Not known" not in browser.post(url, {"config": "{}"}, follow=True).content.decode()


def test_hints_see_agents_and_the_teams_settings(project: Project, team: Team) -> None:
    assert config_hints(team, {}) == []
    agent: dict[str, object] = {"review": {"model": "demo/gone", "prompt": "x"}}
    found = config_hints(team, {"agent": agent, "default_agent": "nobody"})  # type: ignore[dict-item]
    assert found == ["Model demo/gone is not set up.", "There is no agent nobody."]
    team.config = {"agent": {"nobody": {"prompt": "x"}}}
    assert config_hints(team, {"default_agent": "nobody"}) == []
