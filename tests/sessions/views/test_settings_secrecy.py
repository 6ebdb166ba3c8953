from __future__ import annotations

import html
import json
from collections.abc import Callable

import pytest
from django.test import Client

from sessions.models import Project
from teams.models import User
from tests.sessions.views.whole_settings import save_settings

SECRET = "s3cret-value"
CONFIG = {"mcp": {"x": {"type": "remote", "url": "u", "headers": {"Authorization": SECRET}}}}

ClientFor = Callable[[User], Client]


@pytest.fixture
def configured(project: Project) -> Project:
    project.config = {**CONFIG, "username": "only-for-admins"}
    project.save()
    return project


@pytest.mark.parametrize("name", ["vera", "bob"])
def test_settings_are_not_on_the_page_of_who_may_not_change_them(
    name: str, configured: Project, client_for: ClientFor, request: pytest.FixtureRequest
) -> None:
    page = client_for(request.getfixturevalue(name)).get(f"/t/acme/p/{configured.pk}/settings")
    assert page.status_code == 200
    for text in (SECRET, "only-for-admins", 'id="project-settings"', "opencode.json"):
        assert text not in page.content.decode()


def test_an_admin_saves_masked_settings_and_loses_nothing(
    configured: Project, adam: User, client_for: ClientFor
) -> None:
    browser, url = client_for(adam), f"/t/acme/p/{configured.pk}/settings"
    page = html.unescape(browser.get(url).content.decode())
    assert "only-for-admins" in page
    assert SECRET not in page
    text = page.split("<textarea")[1].split(">", 1)[1].split("</textarea>", 1)[0]
    given = {**json.loads(text), "model": "demo/tour"}
    answer = save_settings(browser, url, given)
    assert answer.status_code == 302
    configured.refresh_from_db()
    assert configured.config == {
        **CONFIG,
        "username": "only-for-admins",
        "model": "demo/tour",
    }
