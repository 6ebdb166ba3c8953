from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from sessions.models import Project
from teams.models import AuditEntry, Team, User

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
URL = "/t/acme/settings/network"


@pytest.fixture
def project_url(project: Project) -> str:
    return f"/t/acme/p/{project.pk}/network"


def save(browser: Client, url: str, policy: str, hosts: str = "") -> Any:
    return browser.post(url, {"policy": policy, "hosts": hosts})


def page(browser: Client, url: str) -> str:
    return html.unescape(browser.get(url).content.decode())


def test_an_admin_lists_hosts_for_the_team_and_fewer_for_a_project(
    team: Team, project: Project, adam: User, client_for: ClientFor, project_url: str
) -> None:
    browser = client_for(adam)
    assert "no hosts" in page(browser, URL)
    assert (
        save(browser, URL, "allow-list", "Pkg.test\n*.pkg.test, github.com:22")["Location"] == URL
    )
    assert "pkg.test, *.pkg.test, github.com:22" in page(browser, URL)
    assert "Same as the team: listed hosts only" in page(browser, project_url)
    assert save(browser, project_url, "allow-list", "files.pkg.test")["Location"] == project_url
    shown = page(browser, project_url)
    assert "Team list" in shown
    assert "Project list" in shown
    project.refresh_from_db()
    assert project.config["network"] == {"policy": "allow-list", "hosts": ["files.pkg.test"]}
    save(browser, project_url, "")
    project.refresh_from_db()
    assert "network" not in project.config
    entries = AuditEntry.objects.filter(action="config.changed").order_by("pk")
    assert [(one.target_type, one.data["after"]["network"]) for one in entries] == [
        (
            "team",
            {"policy": "allow-list", "hosts": ["pkg.test", "*.pkg.test", "github.com:22"]},
        ),
        ("project", {"policy": "allow-list", "hosts": ["files.pkg.test"]}),
        ("project", None),
    ]


@pytest.mark.parametrize(
    ("policy", "hosts", "why"),
    [
        ("allow-list", "https://pkg.test/", "name alone, or host:port"),
        ("allow-list", "a.test\n" * 201, "200 hosts"),
        ("open", "", "not one of the available choices"),
        ("", "", "required"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_saved(
    team: Team, adam: User, client_for: ClientFor, policy: str, hosts: str, why: str
) -> None:
    answer = save(client_for(adam), URL, policy, hosts)
    assert answer.status_code == 422
    assert why in html.unescape(answer.content.decode())
    team.refresh_from_db()
    assert team.config == {}


def test_an_open_network_is_offered_where_the_operator_allows_it(
    team: Team, adam: User, client_for: ClientFor, settings: Settings
) -> None:
    settings.SANDBOX_NETWORK = "open"
    browser = client_for(adam)
    assert save(browser, URL, "open")["Location"] == URL
    assert "this server's loopback" in page(browser, URL)
    settings.SANDBOX_NETWORK = "none"
    shown = page(browser, URL)
    assert "no hosts" in shown
    assert 'value="open"' not in shown


def test_more_than_is_allowed_is_refused_by_the_api_too(
    team: Team, project: Project, alice: User, client_for: ClientFor
) -> None:
    browser = client_for(alice)

    def patch(network: object) -> Any:
        return browser.patch(
            f"/config?directory={project.directory}",
            {"network": network},
            content_type="application/json",
            headers={"X-CSRFToken": "x"},
        )

    refused = patch({"policy": "allow-list", "hosts": ["a.test"]})
    assert refused.status_code == 400
    assert "exceeds what the team allows" in refused.content.decode()
    assert patch({"policy": "none"}).status_code == 200
    # What stands already does not stop other changes when the level above gets narrower.
    team.config = {"network": {"policy": "allow-list", "hosts": ["a.test"]}}
    team.save()
    assert patch({"policy": "allow-list", "hosts": ["a.test"]}).status_code == 200
    team.config = {}
    team.save()
    answer = browser.patch(
        f"/config?directory={project.directory}",
        {"default_agent": "plan"},
        content_type="application/json",
        headers={"X-CSRFToken": "x"},
    )
    assert answer.status_code == 200


def test_viewers_read_it_and_change_nothing(
    team: Team,
    vera: User,
    client_for: ClientFor,
    project_url: str,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    browser = client_for(vera)
    browser.get(URL)
    for url in (URL, project_url):
        with django_assert_max_num_queries(12):
            shown = page(browser, url)
        assert "Team admins can change this" in shown
        assert "<textarea" not in shown
        assert save(browser, url, "none").status_code == 403


def test_settings_that_cannot_be_read_are_shown_as_nothing_allowed(
    team: Team, alice: User, client_for: ClientFor
) -> None:
    team.config = {"network": {"policy": "everything"}}
    team.save()
    assert "no hosts" in page(client_for(alice), URL)
