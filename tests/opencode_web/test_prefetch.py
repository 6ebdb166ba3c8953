from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from teams.models import Team, User

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


def test_pages_of_a_team_name_the_rules_by_which_links_are_fetched_ahead(
    client_for: ClientFor, alice: User, team: Team
) -> None:
    client = client_for(alice)
    found = client.get("/t/acme/").headers["Speculation-Rules"]
    name = re.fullmatch(r'"/static/(.+)"', found)
    assert name
    assert finders.find(name[1])
    assert "Speculation-Rules" not in client.get("/login").headers
    assert "Speculation-Rules" not in client.get("/t/acme/usage.csv").headers


def test_a_page_that_is_fetched_ahead_takes_no_message_that_waits_for_the_next_one(
    client_for: ClientFor, alice: User, team: Team
) -> None:
    client = client_for(alice)
    client.post("/t/acme/settings/general", {"name": "Acme", "slug": "acme"})
    assert "messages" in client.cookies
    ahead = client.get("/t/acme/", headers={"Sec-Purpose": "prefetch"})
    assert (ahead.status_code, ahead.content) == (503, b"")
    assert 'class="toast' in client.get("/t/acme/").content.decode()
    ahead = client.get("/t/acme/", headers={"Sec-Purpose": "prefetch"})
    assert ahead.status_code == 200
