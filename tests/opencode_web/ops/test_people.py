from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from sessions.models import Project, Schedule
from teams.access import access_team, may_create_team
from teams.actions.services import create_service, create_service_token
from teams.models import ApiToken, AuditEntry, Membership, Role, Scope, Team, User
from tests.factories import make_browser, make_token, make_user

pytestmark = pytest.mark.django_db


def emails(console: Client, query: str) -> list[str]:
    answer = console.get(f"/ops/people{query}")
    assert answer.status_code == 200
    return [row.user.email for row in answer.context["rows"]]


def test_people_are_found_by_name_state_and_last_use(
    console: Client, root: User, alice: User, bob: User, team: Team
) -> None:
    make_user("gone@example.com", name="Gone <b>Person</b>", active=False)
    now = timezone.now()
    User.objects.filter(pk=alice.pk).update(last_login=now - timedelta(days=100))
    User.objects.filter(pk=bob.pk).update(last_login=now - timedelta(days=100))
    make_token(bob, team)
    ApiToken.objects.update(last_used_at=now)
    everyone = [f"{name}@example.com" for name in ("alice", "bob", "gone", "root")]
    assert emails(console, "") == everyone
    assert emails(console, "?q=PERSON+gone") == ["gone@example.com"]
    assert emails(console, "?show=deactivated") == ["gone@example.com"]
    assert emails(console, "?show=operators") == ["root@example.com"]
    assert emails(console, "?show=active&q=bob") == ["bob@example.com"]
    since = f"{now - timedelta(days=30):%Y-%m-%d}"
    assert emails(console, f"?unused_since={since}") == ["alice@example.com", "gone@example.com"]
    assert console.get("/ops/people?unused_since=x&show=zebra").status_code == 422
    assert "<b>Person</b>" not in console.get("/ops/people").content.decode()


def test_thousands_of_people_cost_as_many_queries_as_one(
    console: Client, team: Team, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    made = User.objects.bulk_create(
        User(email=f"p{number:04}@example.com", password="!") for number in range(5_000)
    )
    Membership.objects.bulk_create(
        Membership(team=team, user=user, role=Role.VIEWER) for user in made
    )
    SocialAccount.objects.bulk_create(
        SocialAccount(user=user, provider="corp", uid=str(user.pk)) for user in made[:200]
    )
    console.get("/ops/people")
    with django_assert_max_num_queries(17):
        page = console.get("/ops/people?page=3")
    assert len(page.context["rows"]) == 50
    assert "5002 accounts" in page.content.decode()
    assert page.context["rows"][0].methods == ["corp"]


def test_one_account_with_what_it_has_but_no_secret(console: Client, bob: User, team: Team) -> None:
    token, secret = make_token(bob, team, name="laptop")
    browser = make_browser(bob)
    page = console.get(f"/ops/people/{bob.pk}").content.decode()
    for text in ("bob@example.com", "Acme", "laptop", "203.0.113.9", "Password"):
        assert text in page
    for hidden in (secret, token.digest, browser.session_key):
        assert hidden not in page
    link = console.post(f"/ops/people/{bob.pk}/reset").content.decode()
    assert "/reset/" in link
    assert "/reset/" not in console.get(f"/ops/people/{bob.pk}").content.decode()


def test_tokens_of_service_accounts_are_seen_and_ended_with_who_made_them(
    console: Client, client_for: Callable[[User | None], Client], alice: User, adam: User
) -> None:
    access = access_team(adam, "acme")
    row = create_service(access, name="Runner", role=Role.MEMBER)
    kept, other = (
        create_service_token(access_team(who, "acme"), row, name=f"of {who.name}", scope=Scope.READ)
        for who in (adam, alice)
    )
    owner, place = client_for(alice), f"/t/acme/settings/services/{row.user_id}"
    warning = "Adam has left and can know this token."
    page = owner.get(place).content.decode()
    assert "created by Adam" in page
    assert warning not in page

    person = f"/ops/people/{adam.pk}"
    console.post(f"{person}/deactivate", {"reason": "Has left"})
    # The program of the team goes on until somebody decides.
    assert ApiToken.objects.live().filter(pk=kept[0].pk).exists()
    assert warning in owner.get(place).content.decode()
    assert "Check tokens" in owner.get("/t/acme/settings/services").content.decode()
    page = console.get(person).content.decode()
    assert "of Adam" in page
    assert "of Alice" not in page
    assert kept[1] not in page

    assert console.post(f"{person}/revoke-made", {"reason": ""}).status_code == 422
    sent = console.post(f"{person}/revoke-made", {"reason": "Has left"}, follow=True)
    assert "Tokens of service accounts revoked." in sent.content.decode()
    assert "of Adam" not in sent.content.decode()
    assert not ApiToken.objects.live().filter(pk=kept[0].pk).exists()
    assert ApiToken.objects.live().filter(pk=other[0].pk).exists()
    assert warning not in owner.get(place).content.decode()
    entry = AuditEntry.objects.get(action="token.revoked", target_id=kept[0].pk)
    assert (entry.team_id, entry.told["reason"]) == (access.team.pk, "Has left")


def test_an_operator_locks_somebody_out_and_in_again(
    console: Client, bob: User, team: Team, project: Project
) -> None:
    now = timezone.now()
    times: dict[str, Any] = {"cron": "0 4 * * *", "created_at": now, "updated_at": now}
    row = Schedule.objects.create(
        id="sch_1", project=project, author=bob, name="Nightly", prompt="x", next_at=now, **times
    )
    place = f"/ops/people/{bob.pk}"
    assert console.post(f"{place}/deactivate", {"reason": " "}).status_code == 422
    assert console.post(f"{place}/explode", {"reason": "x"}).status_code == 404
    assert console.post(f"{place}/deactivate", {"reason": "Left"}).status_code == 302
    page = console.get(place).content.decode()
    assert "Nobody can sign in with it." in page
    assert "Reason: Left" in page
    row.refresh_from_db()
    assert (row.next_at, row.paused_cause["reason"]) == (None, "author_without_account")
    assert AuditEntry.objects.get(action="schedule.paused").team_id == team.pk
    console.post(f"{place}/reactivate", {"reason": "Back"})
    bob.refresh_from_db()
    assert bob.is_active
    row.refresh_from_db()
    assert row.paused_at is not None
    console.post(f"{place}/make-operator", {"reason": "On call"})
    console.post(f"{place}/sign-out", {"reason": "Lost laptop"})
    bob.refresh_from_db()
    assert bob.is_superuser
    assert "Revoked tokens: 0" in console.get(place).content.decode()


def test_an_operator_cannot_lock_themselves_out(console: Client, root: User) -> None:
    for act in ("deactivate", "remove-operator"):
        answer = console.post(f"/ops/people/{root.pk}/{act}", {"reason": "x"})
        assert answer.status_code == 422
        assert "your own account" in answer.content.decode()


def test_a_team_without_an_active_owner_gets_one_here(
    console: Client, alice: User, adam: User, team: Team
) -> None:
    place = f"/ops/people/{alice.pk}"
    assert "Only owner of Acme" in console.get(place).content.decode()
    console.post(f"{place}/deactivate", {"reason": "Left"})
    assert "1 team has no active owner" in console.get("/ops/people").content.decode()
    page = console.get(place).content.decode()
    assert "Acme has no active owner" in page
    member = Membership.objects.get(user=adam)
    owner = Membership.objects.get(user=alice)
    for wrong in (owner.pk, 0):
        sent = {f"{team.pk}-member": wrong, f"{team.pk}-reason": "Left"}
        assert console.post(f"{place}/teams/{team.pk}", sent).status_code == 422
    sent = {f"{team.pk}-member": member.pk, f"{team.pk}-reason": "Left"}
    assert console.post(f"{place}/teams/{team.pk}", sent).status_code == 302
    member.refresh_from_db()
    assert member.role == Role.OWNER
    assert console.post(f"{place}/teams/{team.pk}", sent).status_code == 404


def test_who_may_create_teams_is_chosen_here(console: Client, bob: User) -> None:
    theirs = Client()
    theirs.force_login(bob)
    assert theirs.post("/teams/new", {"name": "Mine"}).status_code in (403, 404, 422)
    assert console.post("/ops/people/teams", {"who": "nobody"}).status_code == 422
    assert console.post("/ops/people/teams", {"who": "everyone"}).status_code == 302
    assert may_create_team(bob)
    assert theirs.post("/teams/new", {"name": "Mine"}).status_code == 302
    console.post("/ops/people/teams", {"who": "operators"})
    assert not may_create_team(bob)
    assert theirs.post("/teams/new", {"name": "More"}).status_code in (403, 422)
    entry = AuditEntry.objects.filter(action="policy.changed").latest("pk")
    assert entry.told == {"key": "teams", "before": "everyone", "after": "operators"}
