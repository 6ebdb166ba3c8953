from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from teams.models import Team, User

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


@pytest.mark.parametrize("header", ["Sec-Purpose", "Purpose"])
def test_a_page_that_is_fetched_ahead_takes_no_message_that_waits_for_the_next_one(
    client_for: ClientFor, alice: User, team: Team, header: str
) -> None:
    client = client_for(alice)
    client.post("/t/acme/settings/general", {"name": "Acme", "slug": "acme"})
    assert "messages" in client.cookies
    ahead = client.get("/t/acme/", headers={header: "prefetch"})
    assert (ahead.status_code, ahead.content) == (503, b"")
    assert 'class="toast' in client.get("/t/acme/").content.decode()
    ahead = client.get("/t/acme/", headers={header: "prefetch"})
    assert ahead.status_code == 200
