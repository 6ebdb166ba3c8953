"""Operators get into a team for a reason and a time, and everybody in it sees that."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from opencode_web.lib.errors import Conflict, Forbidden, Invalid, NotFound
from sessions.actions.permissions import reply_permission
from sessions.actions.shares import create_share
from sessions.models import Session
from teams.access import access_team
from teams.actions.accounts import set_operator
from teams.actions.members import change_role, leave_team
from teams.actions.services import create_service, delete_service
from teams.actions.teams import transfer_team
from teams.emergencies import EmergencyNotice, emergency_notices
from teams.models import AuditEntry, Invite, Membership, Role, Team, User
from teams.tasks import end_emergencies
from tests.factories import make_team, make_token, make_user
from tests.sessions.factories import session_access
from tests.sessions.story import Story

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
PAGE = "/ops/emergency"
REASON = "The team asked for help with a stuck session"


def enter(console: Client, team: Team, **fields: object) -> str:
    sent = {"team": team.pk, "reason": REASON, "role": "viewer", "hours": 1, **fields}
    return console.post(PAGE, sent, follow=True).content.decode()


def notices(user: User, team: Team) -> list[EmergencyNotice]:
    """What the home page tells the person of what is over."""
    return emergency_notices(access_team(User.objects.get(pk=user.pk), team.slug, need=None))


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
    assert "has emergency access" in shown
    assert f"(Viewer): {REASON}" in shown
    entries = AuditEntry.objects.filter(action="emergency.began").order_by("pk")
    assert [(entry.team, entry.actor) for entry in entries] == [(team, root), (None, root)]
    assert entries[0].told["reason"] == REASON


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
    assert AuditEntry.objects.filter(action="emergency.ended", team=team).exists()
    assert "has emergency access" not in client_for(alice).get("/t/acme/").content.decode()


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


def test_nothing_makes_it_last(
    console: Client,
    root: User,
    team: Team,
    alice: User,
    adam: User,
    turn: Any,
    client_for: ClientFor,
) -> None:
    session = turn()
    enter(console, team, role="admin")
    row, owner = Membership.objects.get(user=root), client_for(alice)
    settings = "/t/acme/settings"
    # Else the team would be without an owner in the end.
    assert code(owner, f"{settings}/members/{row.pk}/role", role="owner") == 409
    assert code(owner, f"{settings}/transfer", member=str(row.pk)) == 422
    assert code(console, f"{settings}/members/{row.pk}/role", role="viewer") == 409
    with pytest.raises(Invalid):
        transfer_team(team, actor=alice, to=row)
    service = create_service(access_team(adam, "acme"), name="ci", role=Role.ADMIN)
    made = console.post(f"{settings}/services/{service.user_id}/token", {"name": "x"})
    assert made.status_code in (403, 422)
    assert not service.user.api_tokens.exists()
    asked = console.post(f"{settings}/invites", {"role": "admin", "days": "7"})
    assert "cannot set what would outlast it" in asked.content.decode()
    assert not Invite.objects.exists()
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    asked = session.permissions.get(pk=story.waits("ls"))
    access = session_access(root, session)
    with pytest.raises(Forbidden, match="would outlast it"):
        create_share(access, scope="public", days=7)
    with pytest.raises(Forbidden, match="would outlast it"):
        reply_permission(access, asked, reply="always")
    with pytest.raises(Forbidden, match="would outlast it"):
        change_role(Membership.objects.get(user=adam), access=access.team, role=Role.VIEWER)
    # What takes away is done.
    delete_service(access.team, service)
    reply_permission(access, asked, reply="once")


def test_it_ends_with_the_operator(console: Client, root: User, team: Team) -> None:
    enter(console, team, role="admin")
    _, token = make_token(root, team)
    set_operator(root, operates=False, actor=make_user("o@example.com", operator=True), reason="x")
    assert code(console, "/t/acme/") == 404
    headers = {"Authorization": f"Bearer {token}"}
    assert Client().get("/session", headers=headers).status_code == 401
    assert AuditEntry.objects.filter(action="emergency.ended", team=team).exists()


def test_the_admin_has_no_words_of_the_work(
    console: Client, root: User, team: Team, turn: Any
) -> None:
    User.objects.filter(pk=root.pk).update(is_staff=True)
    session = turn()
    Session.objects.filter(pk=session.pk).update(title="Buy Initech")
    rows = console.get("/admin/agent_sessions/session/").content.decode()
    assert session.pk in rows
    assert "Initech" not in rows
    found = console.get("/admin/agent_sessions/session/?q=Initech").content.decode()
    assert session.pk not in found
    assert code(console, f"/admin/agent_sessions/session/{session.pk}/change/") == 403
    assert code(console, f"/admin/agent_sessions/project/{session.project_id}/change/") == 403
    for gone in ("permissionrequest", "savedrule"):
        assert code(console, f"/admin/agent_sessions/{gone}/") == 404


def test_an_owner_of_a_time_is_not_the_last_one(team: Team, root: User, alice: User) -> None:
    until = timezone.now() + timedelta(hours=1)
    Membership.objects.create(team=team, user=root, role="owner", expires_at=until)
    with pytest.raises(Conflict):
        leave_team(access_team(alice, "acme"))


def test_a_token_of_one_emergency_is_not_good_in_the_next(
    console: Client, root: User, team: Team
) -> None:
    enter(console, team, role="admin")
    _, token = make_token(root, team)
    console.post(f"{PAGE}/{Membership.objects.get(user=root).pk}/end")
    enter(console, team)
    headers = {"Authorization": f"Bearer {token}"}
    assert Client().get("/session", headers=headers).status_code == 401


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
        if AuditEntry.objects.filter(action="emergency.ended", team=None).count() == 2:
            raise RuntimeError

    monkeypatch.setattr("teams.actions.break_glass.announce_access", fail_second)
    with pytest.raises(RuntimeError):
        end_emergencies()
    assert Membership.objects.filter(user=root).count() == 1
    assert AuditEntry.objects.filter(action="emergency.ended", team=None).count() == 1


def test_an_owner_who_was_away_reads_of_it_until_they_dismiss_it(
    console: Client, root: User, team: Team, alice: User, adam: User, client_for: ClientFor
) -> None:
    olga, bill = make_user("olga@example.com"), make_user("bill@example.com")
    Membership.objects.create(team=team, user=olga, role="owner")
    Membership.objects.create(team=team, user=bill, role="billing")
    enter(console, team, reason="Help <b>with</b> a stuck session", role="admin")
    # Everybody has the banner.
    assert not notices(alice, team)
    console.post(f"{PAGE}/{Membership.objects.get(user=root).pk}/end")
    enter(console, team)
    Membership.objects.filter(user=root).update(expires_at=timezone.now() - timedelta(seconds=1))
    end_emergencies()
    second, first = notices(alice, team)
    assert (first.operator, first.role, second.role) == (root.email, "Admin", "Viewer")
    entries = AuditEntry.objects.filter(team=team, action__startswith="emergency.")
    began, ended = entries.order_by("pk")[:2]
    assert (first.since, first.until) == (began.time, ended.time)
    owner = client_for(alice)
    shown = owner.get("/t/acme/").content.decode()
    assert f"The operator {root.email} had emergency access to this team from" in shown
    assert "(Admin): Help &lt;b&gt;with&lt;/b&gt; a stuck session" in shown
    assert f"{root.email} took emergency access" in owner.get(first.url).content.decode()
    for other in (adam, olga):
        assert code(client_for(other), first.dismiss_url, x="") == 302
    assert (notices(alice, team), notices(olga, team)) == ([second, first], [second])
    for other in (adam, bill):
        assert not notices(other, team)
    assert not notices(alice, make_team(alice, name="Other"))


def test_a_notice_goes_after_a_month_and_outlives_the_operator(
    console: Client, root: User, team: Team, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(console, team)
    console.post(f"{PAGE}/{Membership.objects.get(user=root).pk}/end")
    AuditEntry.objects.all().erase("person-1")
    later = timezone.now() + timedelta(days=29)
    monkeypatch.setattr(timezone, "now", lambda: later)
    (told,) = notices(alice, team)
    assert (told.operator, told.reason) == ("person-1", "")
    monkeypatch.setattr(timezone, "now", lambda: later + timedelta(days=2))
    assert not notices(alice, team)
