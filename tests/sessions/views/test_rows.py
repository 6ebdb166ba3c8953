from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from sessions.models import Pin, Session
from teams.models import User
from tests.sessions.factories import make_session

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
HTMX = {"HX-Request": "true"}


@pytest.fixture
def browser(client_for: ClientFor, alice: User) -> Client:
    return client_for(alice)


def html(client: Client, url: str, **headers: str) -> str:
    response = client.get(url, headers=headers)
    assert response.status_code == 200
    return str(response.content.decode())


def group_of(page: str, session: Session) -> str:
    before = page.split(f'id="row-{session.pk}"')[0]
    return before.rpartition('data-group="')[2].partition('"')[0]


def test_fr_01_a_pinned_session_stands_above_in_the_list_of_who_pinned_it(
    client_for: ClientFor, alice: User, bob: User, session: Session
) -> None:
    url = f"/t/acme/s/{session.pk}/pin"
    for _ in range(2):  # sent twice, it is pinned once
        assert client_for(bob).post(url, {"pinned": "1"}).status_code == 302
    assert Pin.objects.count() == 1
    assert group_of(html(client_for(bob), "/t/acme/rail"), session) == "pinned"
    assert group_of(html(client_for(alice), "/t/acme/rail"), session) == "today"
    client_for(bob).post(url, {"pinned": "0"}, headers=HTMX)
    assert group_of(html(client_for(bob), "/t/acme/rail"), session) == "today"


def test_a_pinned_session_that_needs_somebody_stands_there(
    browser: Client, session: Session
) -> None:
    browser.post(f"/t/acme/s/{session.pk}/pin", {"pinned": "1"})
    Session.objects.filter(pk=session.pk).update(state="waiting")
    page = html(browser, "/t/acme/rail")
    assert group_of(page, session) == "ask"
    assert "Pinned" not in page


def test_an_old_pinned_session_is_in_the_list(
    browser: Client, alice: User, session: Session, django_assert_num_queries: Any
) -> None:
    for _ in range(3):
        make_session(alice, session.project)
    browser.post(f"/t/acme/s/{session.pk}/pin", {"pinned": "1"})
    page = html(browser, "/t/acme/rail?who=team&shown=1")
    assert group_of(page, session) == "pinned"
    # Session and person, membership, pins, the newest, what needs somebody, projects, pulls.
    with django_assert_num_queries(9):
        html(browser, "/t/acme/rail?who=team&shown=1")


def test_a_row_offers_what_can_be_done_without_opening_it(
    browser: Client, session: Session
) -> None:
    Session.objects.filter(pk=session.pk).update(title="<b>Mend</b> the till")
    url = f"/t/acme/s/{session.pk}"
    assert f'href="{url}/menu"' in html(browser, "/t/acme/rail")
    for page in (html(browser, f"{url}/menu", **HTMX), html(browser, f"{url}/menu")):
        assert "&lt;b&gt;Mend&lt;/b&gt; the till" in page
        for act in ("pin", "rename", "archive", "delete"):
            assert f'action="{url}/{act}"' in page
        assert f'href="{url}/share"' in page


def test_from_a_list_the_page_stays_where_it_is(browser: Client, session: Session) -> None:
    url = f"/t/acme/s/{session.pk}"
    sent = {"archived": "1", "from": "list"}
    answer = browser.post(f"{url}/archive", sent, headers=HTMX)
    assert answer.status_code == 200
    assert "HX-Redirect" not in answer.headers
    assert f'action="{url}/archive"' in answer.content.decode()
    deleted = browser.post(f"{url}/delete", {"from": "list"}, headers=HTMX)
    assert "Session deleted" in deleted.content.decode()
    assert not Session.objects.filter(pk=session.pk).exists()


def test_the_list_is_as_wide_as_its_person_left_it(browser: Client, session: Session) -> None:
    url = "/t/acme/rail/shape"
    assert 'data-rail-state="open">' in html(browser, "/t/acme/")
    assert browser.post(url, {"width": "320"}).status_code == 204
    assert browser.post(url, {"closed": "1"}).status_code == 204
    assert 'data-rail-state="closed" data-rail-width="320"' in html(browser, "/t/acme/")
    browser.post(url, {"closed": "0"})
    assert 'data-rail-state="open" data-rail-width="320"' in html(browser, "/t/acme/inbox")
    for wrong in ("199", "410", "250.0", "9" * 40, "<b>"):
        assert browser.post(url, {"width": wrong}).status_code == 400


def test_a_session_is_pinned_from_its_own_menu(browser: Client, session: Session) -> None:
    url = f"/t/acme/s/{session.pk}"
    assert "Pin to the top of my list" in html(browser, url)
    answer = browser.post(f"{url}/pin", {"pinned": "1", "from": "session"})
    assert answer.headers["Location"] == url
    assert "Unpin" in html(browser, url)
