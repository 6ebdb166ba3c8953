from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from sessions.access import access_project
from sessions.actions.secrets import set_secret
from sessions.models import Project, TeamSecret
from sessions.secrets import project_redactor
from teams.auth import authenticate_user
from teams.models import AuditEntry, Team, User
from tests.factories import make_team
from tests.sessions.factories import make_project

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
URL = "/t/acme/settings/secrets"
VALUE = "a-very-secret-value"


def page(browser: Client, url: str = URL) -> str:
    return html.unescape(browser.get(url).content.decode())


def secrets_of(project: Project) -> dict[str, str]:
    return project_redactor(project.pk).secrets


def test_an_admin_gives_all_projects_or_some_a_secret_and_nobody_reads_it(
    project: Project, team: Team, adam: User, client_for: ClientFor, tmp_path: Path
) -> None:
    other = make_project(team, tmp_path / "other", name="other")
    browser = client_for(adam)
    assert "has no secrets" in page(browser)
    given = {"name": "DEPLOY", "value": VALUE, "reach": "all"}
    assert browser.post(URL, given)["Location"] == URL
    some = {"name": "STAGE", "value": "another-value", "reach": "some", "projects": [other.pk]}
    assert browser.post(URL, some).status_code == 302
    assert secrets_of(project) == {"DEPLOY": VALUE}
    assert secrets_of(other) == {"DEPLOY": VALUE, "STAGE": "another-value"}
    shown = page(browser)
    assert "All projects" in shown
    assert VALUE not in shown
    assert TeamSecret.objects.get(name="DEPLOY").value not in shown
    # The value is replaced, and the choice with it.
    assert browser.post(URL, {**some, "reach": "all"}).status_code == 302
    assert secrets_of(project) == {"DEPLOY": VALUE, "STAGE": "another-value"}
    row = TeamSecret.objects.get(name="STAGE")
    assert browser.post(f"{URL}/{row.pk}/remove").status_code == 302
    assert secrets_of(other) == {"DEPLOY": VALUE}
    entries = AuditEntry.objects.filter(action__startswith="secret.team").order_by("pk")
    assert [(one.action, one.told) for one in entries] == [
        ("secret.team_set", {"name": "DEPLOY", "everywhere": True, "projects": []}),
        ("secret.team_set", {"name": "STAGE", "everywhere": False, "projects": ["other"]}),
        ("secret.team_set", {"name": "STAGE", "everywhere": True, "projects": []}),
        ("secret.team_removed", {"name": "STAGE", "everywhere": True, "projects": []}),
    ]


def test_a_project_goes_before_its_team_and_shows_what_it_inherits(
    project: Project, adam: User, client_for: ClientFor
) -> None:
    browser = client_for(adam)
    for name in ("DEPLOY", "STAGE"):
        browser.post(URL, {"name": name, "value": VALUE, "reach": "all"})
    access = access_project(authenticate_user(adam), project.pk)
    set_secret(access, name="DEPLOY", value="of-the-project")
    assert secrets_of(project) == {"DEPLOY": "of-the-project", "STAGE": VALUE}
    shown = page(browser, f"/t/acme/p/{project.pk}/secrets")
    assert shown.count("Set for the team") == 1
    assert VALUE not in shown


def test_what_is_wrong_is_said_and_the_value_is_not_sent_back(
    project: Project, adam: User, client_for: ClientFor, subtests: pytest.Subtests
) -> None:
    outside = make_team(adam, slug="elsewhere").projects
    assert not outside.exists()
    cases = [
        ({"name": "PATH"}, "Take another name"),
        ({"value": "short"}, "at least 6"),
        ({"reach": "some"}, "Choose at least one project"),
        ({"reach": "some", "projects": ["prj_elsewhere"]}, "not one of the available choices"),
        ({"reach": ""}, "required"),
    ]
    for change, why in cases:
        with subtests.test(change=change):
            given = {"name": "DEPLOY", "value": VALUE, "reach": "all", **change}
            answer = client_for(adam).post(URL, given)
            assert answer.status_code == 422
            shown = html.unescape(answer.content.decode())
            assert why in shown
            assert VALUE not in shown
    assert not TeamSecret.objects.exists()


def test_members_read_names_and_change_nothing(
    project: Project,
    adam: User,
    bob: User,
    client_for: ClientFor,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    client_for(adam).post(URL, {"name": "DEPLOY", "value": VALUE, "reach": "all"})
    browser = client_for(bob)
    browser.get(URL)
    with django_assert_max_num_queries(12):
        shown = page(browser)
    assert "DEPLOY" in shown
    assert "<textarea" not in shown
    row = TeamSecret.objects.get()
    for url in (URL, f"{URL}/{row.pk}/remove", f"{URL}/keys"):
        assert browser.post(url, {"name": "X", "value": VALUE, "reach": "all"}).status_code == 403
    assert TeamSecret.objects.count() == 1


def test_an_admin_chooses_whether_keys_are_hidden(
    team: Team, adam: User, client_for: ClientFor
) -> None:
    browser = client_for(adam)
    for hides in ("off", "off", "on"):
        assert browser.post(f"{URL}/keys", {"hides": hides}).status_code == 302
        team.refresh_from_db()
        assert team.hides_keys is (hides == "on")
    entries = AuditEntry.objects.filter(action="secret.key_hiding_changed").order_by("pk")
    assert [one.data["hides"] for one in entries] == [False, True]
    assert "turned off hiding well-known keys" in page(browser, "/t/acme/settings/audit")
