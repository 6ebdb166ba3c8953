from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import AsyncClient, Client

from opencode_web.lib.db import in_db
from sessions.models import Event
from teams.audit import AuditAction, record
from teams.models import Role, Team, User
from tests.factories import add_member, make_team
from tests.opencode_web.ops.conftest import Turn

pytestmark = pytest.mark.django_db


def actions(client: Client, query: str = "") -> list[str]:
    return [line.entry.action for line in client.get(f"/ops/audit{query}").context["lines"]]


def test_events_have_type_place_and_size_but_no_data(console: Client, turn: Turn) -> None:
    session = turn()
    answer = console.get("/ops/events")
    line = answer.context["tail"].lines[0]
    event = Event.objects.latest("pk")
    assert (line.type, line.session, line.team, line.seq) == (
        event.type,
        session.pk,
        "Acme",
        event.seq,
    )
    assert line.size > 20
    assert line.open_url == ""
    assert "Secret plans" not in answer.content.decode()


def test_events_are_found_by_team_and_type(
    console: Client, turn: Turn, root: User, team: Team
) -> None:
    turn()
    make_team(root, name="Other", slug="other")
    add_member(team, root, Role.VIEWER)

    def lines(query: str) -> list[Any]:
        return list(console.get(f"/ops/events{query}").context["tail"].lines)

    assert lines("?team=acme&type=session.")[0].open_url.startswith("/t/acme/s/")
    assert lines("?team=other") == []
    assert lines("?type=zebra") == []
    session = lines("")[0].session
    assert {line.session for line in lines(f"?session={session}")} == {session}
    assert lines(f"?session={session}&type=zebra") == []
    assert lines("?session=ses_none") == []


def test_the_context_of_a_session_leads_operators_to_its_events(
    console: Client, turn: Turn, root: User, team: Team
) -> None:
    turn()
    add_member(team, root, Role.VIEWER)
    line = console.get("/ops/events").context["tail"].lines[0]
    html = console.get(f"{line.open_url}?panel=context").content.decode()
    assert f'href="/ops/events?session={line.session}" data-operators' in html
    assert " data-operator" in html.split("<body")[1].split(">")[0]


def test_events_are_followed_until_somebody_pauses(console: Client, turn: Turn) -> None:
    turn()
    assert 'hx-trigger="every 5s"' in console.get("/ops/events").content.decode()
    assert "every 5s" not in console.get("/ops/events?paused=1").content.decode()


def test_the_audit_log_is_of_all_teams_and_none(
    console: Client, team: Team, alice: User, root: User
) -> None:
    record(AuditAction.USER_RENAMED, actor=root, team=None, target=root, data={"name": "Ruth"})
    record(AuditAction.SESSION_RENAMED, actor=alice, team=team, data={"title": "Secret plans"})
    record(AuditAction.OPERATOR_STOPPED_TURN, actor=root, team=team, data={"reason": "It hung."})
    assert actions(console)[:3] == [
        "operator.stopped_turn",
        "session.renamed",
        "user.renamed",
    ]
    text = console.get("/ops/audit").content.decode()
    assert "It hung." in text
    assert "Ruth" in text
    assert "Secret plans" not in text


def test_the_text_of_a_teams_entries_is_not_even_looked_for(
    console: Client, team: Team, alice: User
) -> None:
    record(AuditAction.SESSION_RENAMED, actor=alice, team=team, data={"title": "Secret plans"})
    assert actions(console, "?text=Secret") == []
    assert actions(console, "?text=Acme")[0] == "session.renamed"
    assert actions(console, "?who=alice&what=session.renamed") == ["session.renamed"]
    assert console.get("/ops/audit?since=2026-02-02&until=2026-02-01").status_code == 422


def test_the_audit_log_has_pages(
    console: Client, team: Team, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("teams.audit_trail.PAGE_SIZE", 2)
    for _ in range(3):
        record(AuditAction.TEAM_RENAMED, actor=alice, team=team)
    page = console.get("/ops/audit?what=team.renamed")
    assert len(page.context["lines"]) == 2
    older = page.context["older"]
    assert actions(console, f"?what=team.renamed&before={older}") == ["team.renamed"]


@pytest.mark.django_db(transaction=True)
async def test_the_csv_has_what_the_page_has(team: Team, alice: User, root: User) -> None:
    def write() -> None:
        record(AuditAction.SESSION_RENAMED, actor=alice, team=team, data={"title": "Secret plans"})
        record(AuditAction.OPERATOR_STOPPED_TURN, actor=root, team=team, data={"reason": "=1"})

    await in_db(write)
    client = AsyncClient()
    await client.aforce_login(root)
    answer = await client.get("/ops/audit.csv?text=acme")
    text = "".join([piece.decode() async for piece in answer])  # type: ignore[union-attr]
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == ["time", "who", "what", "team", "kind", "id", "details", "from"]
    assert rows[1][1:4] == ["root@example.com", "operator.stopped_turn", "Acme"]
    assert rows[1][6] == "reason: =1"
    assert rows[2][6] == ""
    assert "Secret plans" not in text
    assert (await client.get("/ops/audit.csv?since=x")).status_code == 400
    await sync_to_async(connections.close_all)()
