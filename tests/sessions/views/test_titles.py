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
