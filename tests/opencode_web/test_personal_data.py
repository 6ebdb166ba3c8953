from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from teams.models import Team, User
from tests.factories import make_browser, make_token
from tests.sessions.factories import make_project, make_session

pytestmark = pytest.mark.django_db


def test_people_read_and_download_what_is_kept_about_them_and_nobody_else(
    alice: User, bob: User, team: Team, tmp_path: Path, client_for: Callable[[User | None], Client]
) -> None:
    token, secret = make_token(bob, team, name="laptop")
    row = make_browser(bob)
    project = make_project(team, tmp_path / "shop")
    mine = make_session(bob, project, title="Mine")
    make_session(alice, project, title="Hers")
    browser = client_for(bob)
    page = browser.get("/me/data").content.decode()
    assert "bob@example.com" in page
    answer = browser.get("/me/data.json")
    assert answer["Content-Disposition"].startswith("attachment")
    text = answer.content.decode()
    data = json.loads(text)
    assert [one["id"] for one in data["sessions"]] == [mine.pk]
    assert [(one["team__slug"], one["role"]) for one in data["teams"]] == [("acme", "member")]
    assert [one["name"] for one in data["tokens"]] == ["laptop"]
    assert "203.0.113.9" in [one["ip"] for one in data["browsers"]]
    for hidden in (secret, token.digest, row.session_key, bob.password, "alice@", "Hers"):
        assert hidden not in text
    # What belongs to a team that they have left stays there.
    team.memberships.filter(user=bob).delete()
    assert json.loads(browser.get("/me/data.json").content)["sessions"] == []
    assert client_for(None).get("/me/data").status_code == 302
