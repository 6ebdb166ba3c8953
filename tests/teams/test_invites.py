from __future__ import annotations

from datetime import timedelta
from threading import Barrier, Thread
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from opencode_web.lib.errors import AppError, Conflict, Forbidden, Invalid, NotFound
from teams.access import access_team
from teams.actions.invites import (
    MAX_LIFETIME,
    UNUSABLE,
    InviteUnusable,
    accept_invite,
    accept_invite_as_new,
    create_invite,
    find_invite,
    revoke_invite,
)
from teams.actions.members import change_role, remove_member
from teams.actions.teams import transfer_team
from teams.models import AuditEntry, Invite, Membership, Role, Team, User
from tests.factories import add_member, make_invite, make_team, make_user

pytestmark = pytest.mark.django_db


def test_only_the_digest_is_stored(alice: User, team: Team) -> None:
    invite, secret = make_invite(alice, team)
    stored = str(list(Invite.objects.values())) + str(list(AuditEntry.objects.values()))
    assert secret not in stored
    assert len(secret) >= 43
    assert find_invite(secret) == invite


def test_accepting_makes_a_member_with_the_role(alice: User, team: Team) -> None:
    invite, _ = make_invite(alice, team, Role.VIEWER)
    dora = make_user("dora@example.com")
    assert accept_invite(invite, user=dora).role == Role.VIEWER
    invite.refresh_from_db()
    assert invite.accepted_by == dora
    actions = list(AuditEntry.objects.order_by("id").values_list("action", flat=True))[-2:]
    assert actions == ["member.joined", "invite.accepted"]


@pytest.mark.parametrize("state", ["expired", "revoked", "used", "wrong"])
def test_an_unusable_link_gives_one_sentence(state: str, alice: User, team: Team) -> None:
    invite, secret = make_invite(alice, team)
    if state == "expired":
        Invite.objects.update(expires_at=timezone.now())
    elif state == "revoked":
        revoke_invite(invite, access=access_team(alice, team.id))
    elif state == "used":
        accept_invite(invite, user=make_user("first@example.com"))
    else:
        secret += "x"
    with pytest.raises(NotFound) as caught:
        find_invite(secret)
    assert caught.value.message == UNUSABLE
    assert caught.value.to_json()["data"] == {"message": UNUSABLE}


@pytest.mark.parametrize("change", ["expires_at", "revoked_at", "accepted_at"])
def test_a_link_that_ends_while_the_page_is_open_is_refused(
    change: str, alice: User, team: Team
) -> None:
    invite, _ = make_invite(alice, team)
    Invite.objects.update(**{change: timezone.now()})
    late = make_user("late@example.com")
    with pytest.raises(InviteUnusable):
        accept_invite(invite, user=late)
    assert not Membership.objects.filter(user=late).exists()


def test_a_new_account_is_not_made_when_the_link_is_used(alice: User, team: Team) -> None:
    invite, _ = make_invite(alice, team)
    accept_invite(invite, user=make_user("first@example.com"))
    with pytest.raises(InviteUnusable):
        accept_invite_as_new(
            invite, email="second@example.com", name="Second", password="long-enough-phrase"
        )
    assert not User.objects.filter(email="second@example.com").exists()


def test_a_link_for_one_address_refuses_others_and_stays_usable(alice: User, team: Team) -> None:
    invite, secret = make_invite(alice, team, email="Dora@Example.com")
    with pytest.raises(Forbidden, match=r"dora@example\.com"):
        accept_invite(invite, user=make_user("mallory@example.com"))
    membership = accept_invite_as_new(
        find_invite(secret),
        email="mallory2@example.com",
        name="Dora",
        password="long-enough-phrase",
    )
    assert membership.user.email == "dora@example.com"


def test_a_member_does_not_use_the_link_up(alice: User, bob: User, team: Team) -> None:
    invite, secret = make_invite(alice, team, Role.OWNER)
    with pytest.raises(Conflict):
        accept_invite(invite, user=bob)
    assert find_invite(secret).accepted_at is None
    assert access_team(bob, team.id).role == Role.MEMBER


@pytest.mark.parametrize(
    ("actor", "role", "allowed"),
    [
        ("alice", Role.OWNER, True),
        ("adam", Role.OWNER, False),
        ("adam", Role.ADMIN, True),
        ("bob", Role.ADMIN, False),
    ],
)
def test_nobody_invites_above_the_own_role(
    actor: str, role: Role, allowed: bool, team: Team, request: pytest.FixtureRequest
) -> None:
    access = access_team(request.getfixturevalue(actor), team.id)
    if allowed:
        assert create_invite(access, role=role)[0].role == role
    else:
        with pytest.raises(Forbidden):
            create_invite(access, role=role)


@pytest.mark.parametrize("lifetime", [timedelta(0), timedelta(-1), MAX_LIFETIME * 2])
def test_it_rejects_a_lifetime_out_of_range(lifetime: timedelta, alice: User, team: Team) -> None:
    with pytest.raises(Invalid):
        create_invite(access_team(alice, team.id), role=Role.MEMBER, lifetime=lifetime)


def test_a_used_link_cannot_be_revoked_and_another_teams_not_found(
    alice: User, charlie: User, team: Team
) -> None:
    invite, _ = make_invite(alice, team)
    with pytest.raises(NotFound):
        revoke_invite(invite, access=access_team(charlie, "globex"))
    accept_invite(invite, user=make_user("dora@example.com"))
    with pytest.raises(Conflict):
        revoke_invite(invite, access=access_team(alice, team.id))


@pytest.mark.parametrize("how", ["removed", "demoted"])
def test_links_of_an_admin_end_with_the_role(how: str, alice: User, adam: User, team: Team) -> None:
    _, secret = make_invite(adam, team)
    access = access_team(alice, team.id)
    membership = Membership.objects.get(user=adam)
    if how == "removed":
        remove_member(membership, access=access)
    else:
        change_role(membership, access=access, role=Role.MEMBER)
    with pytest.raises(InviteUnusable):
        find_invite(secret)


def test_a_member_is_not_invited_again(alice: User, bob: User, team: Team) -> None:
    with pytest.raises(Conflict, match="is already a member of Acme"):
        create_invite(access_team(alice, "acme"), role=Role.ADMIN, email=" Bob@example.com")
    assert not Invite.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_people_accept_one_link_at_once() -> None:
    owner = make_user("owner@example.com")
    people = [make_user(f"p{number}@example.com") for number in range(4)]
    team = make_team(owner)
    invite, _ = make_invite(owner, team)
    barrier = Barrier(len(people))
    outcomes: list[str] = []

    def accept(user: User) -> None:
        barrier.wait(timeout=10)
        try:
            accept_invite(invite, user=user)
            outcomes.append("joined")
        except AppError as exc:
            outcomes.append(exc.message)
        finally:
            connection.close()

    threads = [Thread(target=accept, args=(user,)) for user in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert sorted(outcomes) == sorted(["joined", *[UNUSABLE] * 3])
    assert Membership.objects.filter(team=team).count() == 2


def test_a_link_survives_the_rotation_of_the_secret(alice: User, team: Team, settings: Any) -> None:
    invite, secret = make_invite(alice, team)
    settings.SECRET_KEY, old = "another-" + "y" * 40, settings.SECRET_KEY
    with pytest.raises(InviteUnusable):
        find_invite(secret)
    settings.SECRET_KEY_FALLBACKS = [old]
    assert find_invite(secret) == invite


@pytest.mark.parametrize(
    ("new", "left"),
    [
        (Role.ADMIN, {"admin", "member", "viewer", "billing"}),
        (Role.MEMBER, set()),
        (Role.VIEWER, set()),
        (Role.BILLING, set()),
    ],
)
def test_a_demotion_ends_the_invitations_above_the_new_role(
    new: Role, left: set[str], alice: User, team: Team
) -> None:
    olga = make_user("olga@example.com")
    member = add_member(team, olga, Role.OWNER)
    for role in Role:
        make_invite(olga, team, role)
        make_invite(alice, team, role)
    change_role(member, access=access_team(alice, team.slug), role=new)
    assert set(Invite.objects.open().filter(created_by=olga).values_list("role", flat=True)) == left
    assert Invite.objects.open().filter(created_by=alice).count() == len(Role)


def test_a_transfer_ends_the_invitations_of_owners_by_the_former_owner(
    alice: User, bob: User, team: Team
) -> None:
    _, owners = make_invite(alice, team, Role.OWNER)
    _, members = make_invite(alice, team, Role.MEMBER)
    transfer_team(team, actor=alice, to=Membership.objects.get(user=bob))
    assert find_invite(members).role == Role.MEMBER
    with pytest.raises(InviteUnusable):
        find_invite(owners)
