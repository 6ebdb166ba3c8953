from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from opencode_web.lib.days import start_of
from sessions.models import Project, Session
from teams.models import AuditEntry, Team, UsageEntry, User
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


def test_the_size_and_the_spend_of_every_team_are_told(
    console: Client, team: Team, alice: User, project: Project
) -> None:
    now = timezone.now()
    first = start_of(now.date().replace(day=1))
    for number, (time, cost) in enumerate(((now, "1.25"), (first - timedelta(seconds=1), "7"))):
        entry = {"id": f"ses.{number}", "team": team, "user": alice, "time": time}
        UsageEntry.objects.create(
            **entry,
            **dict.fromkeys(("input", "output", "reasoning", "cache_read", "cache_write"), 0),
            cost=Decimal(cost),
        )
    empty = Team.objects.create(name="Another", slug="another")
    Project.objects.filter(pk=project.pk).update(disk_bytes=3_000_000)
    page = console.get("/ops/limits").content.decode()
    assert "$1.25" in page
    assert "$8.25" not in page
    rows = {row["slug"]: row for row in console.get("/instance/teams").json()}
    one = rows[team.slug]
    people = team.memberships.filter(user__is_active=True).count()
    assert (one["members"], one["projects"], one["cost"]) == (people, 1, 1.25)
    assert (one["diskBytes"], one["limits"]["turns"]) == (3_000_000, None)
    none = rows[empty.slug]
    assert (none["members"], none["projects"], none["cost"], none["diskBytes"]) == (0, 0, 0.0, 0)
    assert [row["slug"] for row in console.get("/instance/teams?limit=1").json()] == [team.slug]
    after = console.get(f"/instance/teams?after={team.slug}").json()
    assert [row["slug"] for row in after] == [empty.slug]


def test_limits_are_set_over_rest_and_what_is_left_out_stays(console: Client, team: Team) -> None:
    def patch(body: dict[str, object], slug: str = team.slug) -> Any:
        return console.patch(f"/instance/teams/{slug}", body, "application/json")

    assert patch({"turns": 3, "terminals": 0}).json()["mostTurns"] == 3
    assert patch({"turns": 4}).json()["limits"] == {
        "turns": 4,
        "commands": None,
        "terminals": 0,
        "diskMB": None,
    }
    assert patch({"turns": None}).json()["limits"]["turns"] is None
    assert patch({"turns": 0}).status_code == 400
    assert patch({"turns": 3}, "nobody").status_code == 404
    assert AuditEntry.objects.filter(action="operator.set_limits", team=team).count() == 3
