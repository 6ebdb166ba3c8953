from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from sessions.actions.sessions import is_default_title
from sessions.models import Session
from teams.models import User

pytestmark = pytest.mark.django_db


def test_a_session_that_nobody_has_named_is_new_until_then(
    session: Session, alice: User, client_for: Callable[[User | None], Client]
) -> None:
    browser = client_for(alice)
    url = f"/t/acme/s/{session.pk}"
    Session.objects.filter(pk=session.pk).update(title="New session - 2026-11-22T13:43:58.011Z")
    html = browser.get(url).content.decode()
    assert "2026-11-22T13:43" not in html
    assert html.count("New session</span>") >= 1
    # To save what is shown names nothing.
    browser.post(f"{url}/rename", {"title": "New session"})
    session.refresh_from_db()
    assert is_default_title(session.title)
    browser.post(f"{url}/rename", {"title": "The till"})
    assert ">The till</" in browser.get(url).content.decode()


def test_a_title_is_changed_in_its_place_or_on_the_page(
    session: Session, alice: User, vera: User, client_for: Callable[[User | None], Client]
) -> None:
    browser = client_for(alice)
    url, htmx = f"/t/acme/s/{session.pk}", {"HX-Request": "true"}
    page = browser.get(url).content.decode()
    assert f'hx-get="{url}/rename"' in page
    form = browser.get(f"{url}/rename", headers=htmx).content.decode()
    assert form.lstrip().startswith('<form id="title-form"')
    plain = browser.get(f"{url}/rename").content.decode()
    assert 'id="title-form"' in plain
    assert 'id="session-title"' not in plain
    # What is saved comes back as the title, and the focus with it.
    fields = {"title": "The <till>", "from": "title"}
    saved = browser.post(f"{url}/rename", fields, headers=htmx).content.decode()
    assert "<span data-title>The &lt;till&gt;</span>" in saved
    assert "autofocus" in saved
    assert "autofocus" not in browser.get(url).content.decode().split('id="session-title"')[1][:400]
    left = browser.get(f"{url}/rename?close=1", headers=htmx).content.decode()
    assert 'id="session-title"' in left
    assert browser.post(f"{url}/rename", fields)["Location"] == url
    for headers in (htmx, {}):
        refused = browser.post(f"{url}/rename", {"title": " ", "from": "title"}, headers=headers)
        assert refused.status_code == 422
        assert 'role="alert"' in refused.content.decode()
    assert client_for(vera).get(f"{url}/rename").status_code == 403
