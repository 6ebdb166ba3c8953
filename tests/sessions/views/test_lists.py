from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from providers.models import ProviderConfig
from sessions.models import Project, Session
from sessions.present.projects import labels_of
from teams.models import User
from tests.sessions.factories import make_session, prompt
from tests.sessions.projection import assert_log_equals_rows

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


@pytest.fixture
def browser(client_for: ClientFor, alice: User) -> Client:
    return client_for(alice)


@pytest.fixture
def put_away(session: Session) -> Session:
    Session.objects.filter(pk=session.pk).update(title="Put away", archived_at=timezone.now())
    session.refresh_from_db()
    return session


def html(client: Client, url: str) -> str:
    response = client.get(url)
    assert response.status_code == 200
    return str(response.content.decode())


def rows(page: str) -> str:
    return page.split('id="lists"')[1]


def test_archived_sessions_are_one_link_away(browser: Client, put_away: Session) -> None:
    home = html(browser, "/t/acme/")
    assert "Put away" not in home
    assert "archived=1" in home
    found = html(browser, "/t/acme/?who=team&archived=1")
    assert "Put away" in rows(found)
    assert "Show all" in found
    page = f"/t/acme/p/{put_away.project_id}/"
    assert "Put away" not in rows(html(browser, f"{page}?archived=0"))
    assert "Put away" in rows(html(browser, f"{page}?archived=1"))


def test_archiving_offers_to_undo_it(browser: Client, session: Session) -> None:
    url = f"/t/acme/s/{session.pk}/archive"
    page = browser.post(url, {"archived": "1"}, follow=True).content.decode()
    toast = page.split('id="toasts"')[1]
    assert f'action="{url}"' in toast
    assert 'value="0"' in toast
    for _ in range(2):  # sent twice, it does not archive again
        browser.post(url, {"archived": "0"})
        session.refresh_from_db()
        assert session.archived_at is None


def test_an_archived_session_says_so_and_can_be_brought_back(
    browser: Client, put_away: Session
) -> None:
    page = html(browser, f"/t/acme/s/{put_away.pk}")
    assert "Unarchive" in page.split('id="block"')[1]
    assert " hidden>" not in page.split('id="block"')[1].split("\n")[0]
    browser.post(f"/t/acme/s/{put_away.pk}/archive", {"archived": "0"})
    page = html(browser, f"/t/acme/s/{put_away.pk}")
    assert " hidden>" in page.split('id="block"')[1].split("\n")[0]


def test_the_filters_project_stays_while_somebody_looks_around(
    browser: Client, session: Session
) -> None:
    pages = ("/t/acme/", f"/t/acme/s/{session.pk}", "/t/acme/p/new")
    html(browser, "/t/acme/?who=team&project=prj_other")
    for url in pages:
        page = html(browser, url)
        assert "Show all" in page
        assert f'id="row-{session.pk}"' not in page
    html(browser, "/t/acme/?who=team&project=")
    for url in pages:
        assert f'id="row-{session.pk}"' in html(browser, url)


@pytest.mark.parametrize("look", ["archived=1", "text=nothing"])
def test_the_archive_and_a_text_are_left_with_their_address(
    browser: Client, session: Session, look: str
) -> None:
    assert f'id="row-{session.pk}"' not in html(browser, f"/t/acme/?who=team&{look}")
    for url in ("/t/acme/", f"/t/acme/s/{session.pk}", "/t/acme/p/new"):
        page = html(browser, url)
        assert f'id="row-{session.pk}"' in page
        assert 'value="nothing"' not in page
        assert "Only archived sessions" not in page


def test_a_filter_that_hides_all_says_so_and_can_be_cleared(
    browser: Client, session: Session
) -> None:
    found = rows(html(browser, "/t/acme/?who=team&text=nothing"))
    assert "No sessions match this filter." in found
    assert "No sessions yet" not in found
    assert 'href="/t/acme/search?q=nothing">Search messages for “nothing”' in found
    found = rows(html(browser, "/t/acme/?who=mine&project=prj_none"))
    link = found.split('class="button button-main" href="')[1].split('"')[0]
    assert f'id="row-{session.pk}"' in html(browser, link.replace("&amp;", "&"))


def test_the_list_of_a_project_says_the_same_when_it_is_read_again(
    browser: Client, project: Project
) -> None:
    page = html(browser, f"/t/acme/p/{project.pk}/")
    again = page.split('id="lists"')[1].split('data-refresh="')[1].split('"')[0]
    for text in (page, html(browser, again.replace("&amp;", "&"))):
        assert "No sessions in this project yet." in text


def test_whose_sessions_is_remembered_with_the_person(
    client_for: ClientFor, alice: User, bob: User, session: Session
) -> None:
    html(client_for(bob), "/t/acme/?who=mine")
    elsewhere = html(client_for(bob), "/t/acme/")
    assert 'value="mine" checked' in elsewhere
    assert f'id="row-{session.pk}"' not in elsewhere
    assert 'value="mine" checked' not in html(client_for(alice), "/t/acme/")
    html(client_for(bob), "/t/acme/?who=team")
    assert 'value="team" checked' in html(client_for(bob), "/t/acme/")


def chosen(page: str) -> str:
    select = page.split('<select name="project" aria-label="Project">')[1]
    return select.split(" selected")[0].rpartition('value="')[2].partition('"')[0]


def test_the_home_composer_starts_where_somebody_worked_last(
    client_for: ClientFor, alice: User, bob: User, project: Project
) -> None:
    other = Project.objects.create(
        id="prj_other", team=project.team, name="aaa", directory="/nowhere/aaa", source="folder"
    )
    assert chosen(html(client_for(alice), "/t/acme/")) == other.pk
    make_session(alice, project)
    assert chosen(html(client_for(alice), "/t/acme/")) == project.pk
    assert chosen(html(client_for(bob), "/t/acme/")) == project.pk
    make_session(bob, other)
    assert chosen(html(client_for(bob), "/t/acme/")) == other.pk
    assert chosen(html(client_for(alice), "/t/acme/")) == project.pk


def test_projects_of_one_name_are_told_apart() -> None:
    now = timezone.now()

    def made(key: str, name: str, **fields: str) -> Project:
        return Project(id=key, name=name, created_at=now, **fields)

    labels = labels_of(
        [
            made("a", "till"),
            made("b", "shop", source="git", git_url="https://x.example/shop"),
            made("c", "shop", source="folder", directory="/srv/shop"),
            made("d", "shop", source="sample"),
        ]
    )
    assert labels["a"] == "till"
    assert labels["b"] == "shop (x.example/shop)"
    assert labels["c"] == "shop (/srv/shop)"
    assert labels["d"].startswith("shop (added ")
    one, two = made("e", "shop", source="sample"), made("f", "shop", source="sample")
    two.created_at = now - timedelta(seconds=5)
    assert len(set(labels_of([one, two]).values())) == 2


def test_menus_offer_only_what_can_answer(
    browser: Client, project: Project, settings: Settings
) -> None:
    ProviderConfig.objects.create(
        team=project.team, provider_id="openai", kind="openai", name="OpenAI"
    )
    page = html(browser, "/t/acme/")
    assert 'value="demo/tour"' in page
    assert "openai/" not in page
    assert "demo/inline" not in page
    session = make_session(User.objects.get(name="Alice"), project)
    Session.objects.filter(pk=session.pk).update(model={"providerID": "demo", "id": "inline"})
    assert 'value="demo/inline" selected' in html(browser, f"/t/acme/s/{session.pk}")
    settings.DEBUG = True
    assert "demo/inline" in html(browser, "/t/acme/")


def test_a_new_title_and_the_archive_leave_a_session_where_it_is_in_the_lists(
    browser: Client, alice: User, project: Project
) -> None:
    older, newer = make_session(alice, project), make_session(alice, project)

    def order() -> list[str]:
        found = re.findall(r'id="row-(ses_\w+)"', html(browser, "/t/acme/rail"))
        return [one for one in found if one in (older.pk, newer.pk)]

    assert order() == [newer.pk, older.pk]
    url = f"/t/acme/s/{older.pk}"
    browser.post(f"{url}/rename", {"title": "Mend the till"})
    for archived in ("1", "0"):
        browser.post(f"{url}/archive", {"archived": archived})
    assert order() == [newer.pk, older.pk]
    # Clients of the API that ask for what has changed are told.
    older.refresh_from_db()
    assert older.updated_at > older.active_at
    assert_log_equals_rows(older)
    prompt(alice, older, "Look again.")
    assert order() == [older.pk, newer.pk]


def row_of(page: str, session: Session, kind: str = "row") -> str:
    return page.split(f'id="{kind}-{session.pk}"')[1].split("</div>")[0]


def test_rows_name_the_owner_to_others_only(
    client_for: ClientFor, alice: User, bob: User, session: Session
) -> None:
    for kind in ("row", "card"):
        assert f'data-owner="{alice.pk}"' in row_of(
            html(client_for(bob), "/t/acme/"), session, kind
        )
        own = row_of(html(client_for(alice), "/t/acme/"), session, kind)
        assert "data-owner" not in own
        assert "Alice" not in own


def test_rows_name_the_project_where_they_can_be_of_several(
    browser: Client, session: Session
) -> None:
    def is_mixed(url: str) -> tuple[bool, bool]:
        page = html(browser, url)
        tags = (re.search(f'<div id="{name}"[^>]*>', page) for name in ("rail", "lists"))
        rail, lists = (tag is not None and "data-mixed" in tag[0] for tag in tags)
        return rail, lists

    assert is_mixed("/t/acme/") == (False, False)
    Project.objects.create(
        id="prj_other",
        team=session.project.team,
        name="other",
        directory="/nowhere/other",
        source="folder",
    )
    assert is_mixed("/t/acme/") == (True, True)
    assert session.project.name in row_of(html(browser, "/t/acme/"), session)
    assert is_mixed(f"/t/acme/p/{session.project_id}/") == (True, False)
    assert is_mixed(f"/t/acme/?who=team&project={session.project_id}") == (False, False)
