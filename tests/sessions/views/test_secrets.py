from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from sessions.models import Project, ProjectSecret
from sessions.secrets import MAX_SECRETS, project_redactor
from teams.models import AuditEntry, Team, User
from tests.sessions.factories import make_project

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
VALUE = "a-very-secret-value"


@pytest.fixture
def url(project: Project) -> str:
    return f"/t/acme/p/{project.pk}/secrets"


def put(browser: Client, url: str, name: str, value: str) -> Any:
    return browser.post(url, {"name": name, "value": value})


def page(browser: Client, url: str) -> str:
    return html.unescape(browser.get(url).content.decode())


def test_an_admin_sets_and_removes_a_secret_and_nobody_reads_it(
    project: Project, adam: User, client_for: ClientFor, url: str
) -> None:
    browser = client_for(adam)
    assert "has no secrets" in page(browser, url)
    assert put(browser, url, "DEPLOY_TOKEN", VALUE)["Location"] == url
    shown = page(browser, url)
    assert "DEPLOY_TOKEN" in shown
    assert "Set by" in shown
    assert VALUE not in shown
    assert ProjectSecret.objects.get().value not in shown
    assert project_redactor(project.pk).secrets == {"DEPLOY_TOKEN": VALUE}
    row = ProjectSecret.objects.get()
    assert browser.post(f"{url}/{row.pk}/remove")["Location"] == url
    assert not ProjectSecret.objects.exists()
    assert browser.post(f"{url}/{row.pk}/remove").status_code == 404
    entries = AuditEntry.objects.filter(action__startswith="secret.").order_by("pk")
    assert [(one.action, one.told) for one in entries] == [
        ("secret.set", {"name": "DEPLOY_TOKEN"}),
        ("secret.removed", {"name": "DEPLOY_TOKEN"}),
    ]


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("PATH", VALUE, "Take another name"),
        ("a-b", VALUE, "letters, digits"),
        ("TOKEN", "short", "at least 6"),
        ("TOKEN", "", "required"),
    ],
)
def test_what_is_wrong_is_said_and_the_value_is_not_sent_back(
    adam: User, client_for: ClientFor, url: str, name: str, value: str, why: str
) -> None:
    answer = put(client_for(adam), url, name, value)
    assert answer.status_code == 422
    shown = html.unescape(answer.content.decode())
    assert why in shown
    assert f'value="{name}"' in shown
    assert not value or f">\n{value}" not in shown
    assert VALUE not in shown
    assert not ProjectSecret.objects.exists()


def test_there_are_so_many(project: Project, adam: User, client_for: ClientFor, url: str) -> None:
    browser = client_for(adam)
    put(browser, url, "TOKEN", VALUE)
    kept = ProjectSecret.objects.get()
    ProjectSecret.objects.bulk_create(
        ProjectSecret(
            project=project, name=f"T{number}", value=kept.value, updated_at=kept.updated_at
        )
        for number in range(MAX_SECRETS - 1)
    )
    answer = put(browser, url, "ONE_MORE", VALUE)
    assert answer.status_code == 422
    assert "Remove one first" in answer.content.decode()
    assert put(browser, url, "TOKEN", VALUE).status_code == 302


def test_members_read_names_and_change_nothing(
    project: Project,
    adam: User,
    bob: User,
    client_for: ClientFor,
    url: str,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    put(client_for(adam), url, "TOKEN", VALUE)
    ProjectSecret.objects.update(value="gAAAA-of-another-key")
    browser = client_for(bob)
    browser.get(url)
    with django_assert_max_num_queries(12):
        shown = page(browser, url)
    assert "TOKEN" in shown
    assert "Set it again" in shown
    assert "<textarea" not in shown
    assert put(browser, url, "TOKEN", VALUE).status_code == 403
    row = ProjectSecret.objects.get()
    assert browser.post(f"{url}/{row.pk}/remove").status_code == 403


def test_a_secret_of_another_project_is_not_found(
    team: Team, adam: User, client_for: ClientFor, url: str, tmp_path: Path
) -> None:
    other_project = make_project(team, tmp_path / "other", name="other")
    put(client_for(adam), url, "TOKEN", VALUE)
    row = ProjectSecret.objects.get()
    other = f"/t/acme/p/{other_project.pk}/secrets/{row.pk}/remove"
    assert client_for(adam).post(other).status_code == 404
    assert ProjectSecret.objects.exists()
