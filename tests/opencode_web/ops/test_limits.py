from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from sessions.models import Project, Session
from teams.models import AuditEntry, Team, User
from tests.sessions.factories import make_session, prompt

pytestmark = pytest.mark.django_db


def test_an_operator_sets_the_limits_of_a_team(
    console: Client, team: Team, root: User, settings: Any
) -> None:
    settings.TURNS_PER_TEAM = 20
    page = console.get("/ops/limits").content.decode()
    assert "0 of 20 running" in page
    assert "Own limits" not in page
    form = console.get(f"/ops/limits/{team.slug}").content.decode()
    assert 'placeholder="20"' in form
    sent = {"max_turns": "3", "max_terminals": "0"}
    page = console.post(f"/ops/limits/{team.slug}", sent, follow=True).content.decode()
    assert "The limits of Acme are saved." in page
    assert "0 of 3 running" in page
    assert "0 of 0 open" in page
    assert "Own limits" in page
    entry = AuditEntry.objects.filter(team=team).latest("id")
    assert (entry.action, entry.actor) == ("operator.set_limits", root)
    assert entry.data["before_max_turns"] is None
    assert entry.data["after_max_turns"] == 3
    assert "max_commands" not in str(entry.data)
    # What is empty is what the server says again.
    console.post(f"/ops/limits/{team.slug}", {})
    team.refresh_from_db()
    assert (team.max_turns, team.max_commands, team.max_terminals) == (None, None, None)
    assert AuditEntry.objects.filter(action="operator.set_limits").count() == 2
    console.post(f"/ops/limits/{team.slug}", {})
    assert AuditEntry.objects.filter(action="operator.set_limits").count() == 2


@pytest.mark.parametrize("number", ["0", "-1", "100000001", "many"])
def test_no_limit_is_saved_that_is_none(console: Client, team: Team, number: str) -> None:
    response = console.post(f"/ops/limits/{team.slug}", {"max_turns": number})
    assert response.status_code == 422
    assert Team.objects.filter(pk=team.pk, max_turns=None).exists()


def test_sessions_that_a_higher_limit_has_room_for_are_woken(
    console: Client,
    team: Team,
    alice: User,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    Team.objects.filter(pk=team.pk).update(max_turns=1)
    sessions = [make_session(alice, project) for _ in range(4)]
    for session in sessions:
        prompt(alice, session, "Mend it")
    rung: list[str] = []
    monkeypatch.setattr("sessions.wake._send", lambda _, session, **more: rung.append(session))
    with django_capture_on_commit_callbacks(execute=True):
        console.post(f"/ops/limits/{team.slug}", {"max_turns": "3"})
    assert rung == [session.pk for session in sessions[:3]]
    assert Session.objects.exclude(state="idle").count() == 4
    assert "0 of 3 running" in console.get("/ops/limits").content.decode()
