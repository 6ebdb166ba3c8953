from __future__ import annotations

from collections.abc import Callable

import pytest
from allauth.usersessions.models import UserSession
from django.test import Client

from opencode_web.lib.errors import Conflict, Forbidden, Invalid
from teams.access import access_team
from teams.actions.accounts import (
    appoint_owner,
    deactivate_account,
    ownerless_teams,
    reactivate_account,
    set_operator,
    sign_out_account,
)
from teams.actions.members import leave_team
from teams.actions.resets import ResetUnusable, create_reset, find_reset
from teams.actions.services import create_service
from teams.auth import authenticate_header
from teams.models import AuditEntry, Invite, Membership, Role, Team, User
from tests.factories import add_member, make_invite, make_token, make_user

pytestmark = pytest.mark.django_db
WHY = "Left the company"


@pytest.fixture
def root(db: None) -> User:
    return make_user("root@example.com", operator=True)


def test_a_deactivated_person_has_nothing_that_lets_them_in(
    root: User, adam: User, team: Team, client_for: Callable[[User], Client]
) -> None:
    _, secret = make_token(adam, team)
    make_invite(adam, team)
    link = create_reset(adam, actor=root)
    browser = client_for(adam)
    assert browser.get("/me/profile").status_code == 200
    deactivate_account(adam, actor=root, reason="  Left the\ncompany ")
    assert browser.get("/me/profile").status_code == 302
    assert not UserSession.objects.filter(user=adam).exists()
    assert authenticate_header(f"Bearer {secret}") is None
    assert not Invite.objects.open().exists()
    with pytest.raises(ResetUnusable):
        find_reset(link)
    entry = AuditEntry.objects.get(action="user.deactivated")
    assert (entry.actor, entry.target_id) == (root, str(adam.pk))
    assert entry.told == {"reason": WHY, "browsers": 1, "tokens_revoked": 1}
    deactivate_account(adam, actor=root, reason="again")
    assert AuditEntry.objects.filter(action="user.deactivated").count() == 1

    reactivate_account(adam, actor=root, reason="Back")
    adam.refresh_from_db()
    # The role is there again; what was signed in or revoked is not.
    assert access_team(adam, "acme").role == Role.ADMIN
    assert browser.get("/me/profile").status_code == 302
    assert authenticate_header(f"Bearer {secret}") is None


def test_signing_out_ends_browsers_and_tokens_but_not_the_account(
    root: User, bob: User, team: Team, client_for: Callable[[User], Client]
) -> None:
    _, secret = make_token(bob, team)
    browser = client_for(bob)
    browser.get("/me/profile")
    sign_out_account(bob, actor=root, reason="Lost laptop")
    assert browser.get("/me/profile").status_code == 302
    assert authenticate_header(f"Bearer {secret}") is None
    assert client_for(bob).get("/me/profile").status_code == 200
    told = AuditEntry.objects.get(action="user.signed_out").told
    assert told == {"reason": "Lost laptop", "browsers": 1, "tokens_revoked": 1}


def test_the_server_keeps_an_operator_and_nobody_locks_themselves_out(
    root: User, bob: User, team: Team
) -> None:
    for act in (
        lambda actor: deactivate_account(root, actor=actor, reason=WHY),
        lambda actor: set_operator(root, operates=False, actor=actor, reason=WHY),
    ):
        with pytest.raises(Conflict, match="your own account"):
            act(root)
    with pytest.raises(Conflict, match="needs an operator"):
        deactivate_account(root, actor=None, reason=WHY)
    set_operator(bob, operates=True, actor=root, reason="On call")
    bob.refresh_from_db()
    assert bob.is_staff
    assert bob.is_superuser
    set_operator(root, operates=False, actor=bob, reason="Moved on")
    with pytest.raises(Forbidden):
        deactivate_account(bob, actor=User.objects.get(pk=root.pk), reason=WHY)
    deactivate_account(root, actor=bob, reason=WHY)
    with pytest.raises(Conflict, match="Reactivate"):
        set_operator(root, operates=True, actor=bob, reason=WHY)
    actions = AuditEntry.objects.filter(action__startswith="user.").values_list("action", flat=True)
    assert set(actions) == {"user.made_operator", "user.no_operator", "user.deactivated"}


def test_it_refuses_strangers_service_accounts_and_missing_reasons(
    root: User, alice: User, bob: User, team: Team
) -> None:
    service = create_service(access_team(alice, "acme"), name="ci", role=Role.MEMBER).user
    for actor, user, reason, wrong in (
        (alice, bob, WHY, Forbidden),
        (root, service, WHY, Forbidden),
        (root, bob, " ", Invalid),
        (root, bob, "x" * 301, Invalid),
    ):
        with pytest.raises(wrong):
            deactivate_account(user, actor=actor, reason=reason)
        with pytest.raises(wrong):
            reactivate_account(user, actor=actor, reason=reason)
    assert User.objects.filter(is_active=False).count() == 0


def test_a_team_whose_owner_is_locked_out_gets_another_one(
    root: User, alice: User, adam: User, team: Team, charlie: User
) -> None:
    mine = Membership.objects.get(user=adam)
    with pytest.raises(Conflict, match="has an active owner"):
        appoint_owner(mine, actor=root, reason=WHY)
    # An owner who cannot sign in is none: the other one may not leave.
    add_member(team, charlie, Role.OWNER)
    deactivate_account(charlie, actor=root, reason=WHY)
    with pytest.raises(Conflict):
        leave_team(access_team(alice, "acme"))
    deactivate_account(alice, actor=root, reason=WHY)
    assert [one.slug for one in ownerless_teams()] == ["acme", "globex"]
    with pytest.raises(Conflict, match="cannot own"):
        appoint_owner(Membership.objects.get(user=alice), actor=root, reason=WHY)
    appoint_owner(mine, actor=root, reason="Alice has left")
    assert access_team(adam, "acme").role == Role.OWNER
    assert [one.slug for one in ownerless_teams()] == ["globex"]
    entry = AuditEntry.objects.get(action="member.role_changed")
    assert (entry.team_id, entry.actor) == (team.pk, root)
    assert entry.told["reason"] == "Alice has left"
