from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from opencode_web.lib.crypto import decrypt
from opencode_web.lib.loop import submit
from sessions.forges.adapter import ForgeError, ForgeKind
from sessions.models import Project, ProjectForge
from sessions.publish_settings import forge_of, git_credential, publishing_of
from sessions.secrets import project_redactor
from teams.models import AuditEntry, User

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
TOKEN = "ghp_0123456789abcdefXYZ"
HERE = "https://git.example.com/acme/till.git"


@pytest.fixture
def url(project: Project) -> str:
    return f"/t/acme/p/{project.pk}/publishing"


@pytest.fixture
def browser(client_for: ClientFor, adam: User) -> Client:
    return client_for(adam)


def save(browser: Client, url: str, **fields: str) -> Any:
    return browser.post(url, fields)


def page(browser: Client, url: str) -> str:
    return html.unescape(browser.get(url).content.decode())


def test_an_admin_sets_it_up_and_nobody_reads_the_token(
    browser: Client, url: str, project: Project
) -> None:
    assert "None yet. The project was not cloned." in page(browser, url)
    assert save(browser, url, remote_url=HERE, kind="gitea", token=TOKEN)["Location"] == url
    shown = page(browser, url)
    assert "https://git.example.com/api/v1" in shown
    assert "Gitea or Forgejo" in shown
    assert TOKEN not in shown
    row = ProjectForge.objects.get()
    assert row.token not in shown
    assert decrypt(row.token) == TOKEN
    assert TOKEN not in repr(publishing_of(project))
    # Nothing of it is for sandboxes.
    assert project_redactor(project.pk).secrets == {}
    entry = AuditEntry.objects.get(action="publishing.set_up")
    assert entry.data == {"remote": HERE, "kind": "gitea", "api": "", "with_token": True}


def test_a_known_host_needs_no_choice(browser: Client, url: str, project: Project) -> None:
    project.git_url = "https://github.com/acme/till.git"
    project.save()
    assert publishing_of(project).kind is ForgeKind.GITHUB
    assert not publishing_of(project).can_request
    save(browser, url, token=TOKEN)
    chosen = publishing_of(project)
    assert chosen.can_request
    assert (chosen.api_url, chosen.path) == ("https://api.github.com", "acme/till")
    other = "https://github.com/mallory/till.git"
    given = [
        submit(git_credential(chosen, url, push=True)).result(10) for url in (chosen.url, other)
    ]
    assert given == [f"x-access-token:{TOKEN}", ""]


def test_an_empty_token_keeps_the_one_that_is_stored(browser: Client, url: str) -> None:
    save(browser, url, remote_url=HERE, kind="gitea", token=TOKEN)
    save(browser, url, remote_url=HERE.replace("till", "other"), kind="gitea")
    assert decrypt(ProjectForge.objects.get().token) == TOKEN
    save(browser, url, remote_url=HERE, kind="gitea", forget="on")
    assert ProjectForge.objects.get().token == ""


@pytest.mark.parametrize(
    "changed",
    [
        {"remote_url": "https://evil.example.com/acme/till.git"},
        {"remote_url": HERE.replace("https", "http")},
        {"remote_url": HERE.replace(".com", ".com:8443")},
        {"api_url": "https://evil.example.com/api/v1"},
    ],
)
def test_another_host_removes_the_token(browser: Client, url: str, changed: dict[str, str]) -> None:
    save(browser, url, remote_url=HERE, kind="gitea", token=TOKEN)
    save(browser, url, **{"remote_url": HERE, "kind": "gitea", **changed})
    assert ProjectForge.objects.get().token == ""


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"remote_url": "https://name:secret@host/a/b.git"}, "without user name and password"),
        ({"remote_url": "ext::sh -c x"}, "address of a Git repository"),
        ({"remote_url": "git://host/a/b"}, "addresses are supported"),
        ({"remote_url": "--upload-pack=x"}, "addresses are supported"),
        ({"api_url": "ftp://host/api", "kind": "gitea"}, "must start with http"),
        ({"api_url": "https://u:p@host/api", "kind": "gitea"}, "contain a user name or password"),
        ({"api_url": "https://host/api?x=1", "kind": "gitea"}, "must not contain a ?"),
        ({"api_url": "https://host/api", "remote_url": HERE}, "Choose a forge"),
        ({"kind": "bitbucket"}, "valid choice"),
        ({"token": "two words"}, "must not contain spaces"),
        ({"token": "a:b"}, "or colons"),
        ({"token": "tökenn"}, "must be printable text"),
    ],
)
def test_what_is_wrong_is_said(browser: Client, url: str, fields: dict[str, str], why: str) -> None:
    answer = save(browser, url, **fields)
    assert answer.status_code == 422
    shown = html.unescape(answer.content.decode())
    assert why in shown
    assert fields.get("token", "no token was given") not in shown
    assert not ProjectForge.objects.exists()


def test_a_member_reads_it_and_an_outsider_does_not(
    client_for: ClientFor, bob: User, charlie: User, url: str
) -> None:
    assert "Team admins can change this." in page(client_for(bob), url)
    assert save(client_for(bob), url, remote_url=HERE).status_code == 403
    assert client_for(charlie).get(url).status_code == 404


def test_what_is_missing_is_said(project: Project, browser: Client, url: str) -> None:
    with pytest.raises(ForgeError, match="Nothing is known of the forge"):
        forge_of(publishing_of(project))
    save(browser, url, remote_url=HERE, kind="gitea")
    with pytest.raises(ForgeError, match="no access token"):
        forge_of(publishing_of(project))


def test_a_token_of_another_key_cannot_be_read(
    project: Project, browser: Client, url: str, settings: Settings
) -> None:
    save(browser, url, remote_url=HERE, kind="gitea", token=TOKEN)
    settings.SECRET_KEY = "another"
    with pytest.raises(ForgeError, match="set it again"):
        forge_of(publishing_of(project))


def test_the_page_asks_so_much(
    browser: Client, url: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    browser.get(url)
    with django_assert_max_num_queries(14):
        browser.get(url)
