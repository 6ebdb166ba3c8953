"""Operators get into a team for a reason and a time, and everybody in it sees that."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from opencode_web.lib.errors import NotFound
from teams.access import access_team
from teams.models import AuditEntry, Membership, Team, User
from teams.tasks import end_emergencies
from tests.factories import make_team, make_token

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
PAGE = "/ops/emergency"
REASON = "The team asked for help with a stuck session"


def enter(console: Client, team: Team, **fields: object) -> str:
    sent = {"team": team.pk, "reason": REASON, "role": "viewer", "hours": 1, **fields}
    return console.post(PAGE, sent, follow=True).content.decode()


def code(client: Client, path: str, **fields: str) -> int:
    return client.post(path, fields).status_code if fields else client.get(path).status_code


def test_an_operator_reads_for_a_time_and_the_team_sees_it(
    console: Client, root: User, team: Team, alice: User, client_for: ClientFor
) -> None:
    assert code(console, "/t/acme/") == 404
    assert "The team sees it on every page." in enter(console, team)
    assert code(console, "/t/acme/") == 200
    assert code(console, "/t/acme/settings/general", name="x") == 403
    shown = client_for(alice).get("/t/acme/").content.decode()
    assert f"(Viewer): {REASON}" in shown
    entries = AuditEntry.objects.filter(action="glass.broken").order_by("pk")
    assert [(entry.team, entry.actor) for entry in entries] == [(team, root), (None, root)]
    assert entries[0].data["reason"] == REASON


def test_writing_is_asked_for_by_itself_and_is_no_ownership(console: Client, team: Team) -> None:
    enter(console, team, role="admin")
    assert code(console, "/t/acme/settings/general", name="") == 422
    assert code(console, "/t/acme/settings/delete", name="acme") == 403
    enter(console, team, role="owner")
    assert Membership.objects.get(expires_at__isnull=False).role == "admin"


def test_it_ends_by_itself_and_at_once(
    console: Client, root: User, team: Team, alice: User, client_for: ClientFor
) -> None:
    enter(console, team)
    _, token = make_token(root, team)
    headers = {"Authorization": f"Bearer {token}"}
    assert Client().get("/session", headers=headers).status_code == 200
    Membership.objects.filter(user=root).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert code(console, "/t/acme/") == 404
    assert Client().get("/session", headers=headers).status_code == 401
    with pytest.raises(NotFound):
        access_team(root, "acme")
    end_emergencies()
    assert not Membership.objects.filter(user=root).exists()
    assert AuditEntry.objects.filter(action="glass.mended", team=team).exists()
    assert REASON not in client_for(alice).get("/t/acme/").content.decode()


def test_the_operator_and_the_owners_of_the_team_can_end_it(
    console: Client, root: User, team: Team, alice: User, client_for: ClientFor
) -> None:
    enter(console, team)
    row = Membership.objects.get(user=root)
    assert code(client_for(alice), f"/t/acme/settings/members/{row.pk}/remove", sure="1") == 302
    assert code(console, "/t/acme/") == 404
    enter(console, team)
    row = Membership.objects.get(user=root)
    console.post(f"{PAGE}/{row.pk}/end")
    assert code(console, "/t/acme/") == 404
    member = Membership.objects.get(user=alice)
    assert code(console, f"{PAGE}/{member.pk}/end", sure="1") == 404


@pytest.mark.parametrize(
    "fields", [{"reason": "x"}, {"reason": " " * 20}, {"hours": 25}, {"hours": 0}]
)
def test_it_needs_a_reason_a_team_and_an_end(
    fields: dict[str, object], console: Client, team: Team
) -> None:
    enter(console, team, **fields)
    assert not Membership.objects.filter(expires_at__isnull=False).exists()


def test_a_member_has_no_need_of_it(console: Client, root: User, team: Team) -> None:
    Membership.objects.create(team=team, user=root, role="viewer")
    assert "You are in Acme already." in enter(console, team, role="admin")
    assert Membership.objects.get(user=root).role == "viewer"


def test_each_ends_for_itself(
    root: User, team: Team, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = timezone.now() - timedelta(seconds=1)
    for one in (team, make_team(alice, name="Other")):
        Membership.objects.create(team=one, user=root, role="viewer", expires_at=over)

    def fail_second(team_id: str) -> None:
        if AuditEntry.objects.filter(action="glass.mended", team=None).count() == 2:
            raise RuntimeError

    monkeypatch.setattr("teams.actions.break_glass.announce_access", fail_second)
    with pytest.raises(RuntimeError):
        end_emergencies()
    assert Membership.objects.filter(user=root).count() == 1
    assert AuditEntry.objects.filter(action="glass.mended", team=None).count() == 1
