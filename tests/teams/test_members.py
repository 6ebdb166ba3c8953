from __future__ import annotations

from threading import Barrier, Thread

import pytest
from django.db import connection

from opencode_web.lib.errors import AppError, Conflict, Forbidden, Invalid
from teams.access import access_team
from teams.actions.members import LAST_OWNER, change_role, leave_team, remove_member
from teams.models import AuditEntry, Membership, Role, Team, User
from tests.factories import add_member, make_team, make_user

pytestmark = pytest.mark.django_db


def of(user: User, team: Team) -> Membership:
    return Membership.objects.get(user=user, team=team)


@pytest.mark.parametrize(
    ("actor", "target", "role", "error"),
    [
        (Role.OWNER, Role.VIEWER, Role.OWNER, None),
        (Role.OWNER, Role.ADMIN, Role.VIEWER, None),
        (Role.ADMIN, Role.VIEWER, Role.ADMIN, None),
        (Role.ADMIN, Role.ADMIN, Role.MEMBER, None),
        (Role.ADMIN, Role.MEMBER, Role.BILLING, None),
        (Role.ADMIN, Role.BILLING, Role.MEMBER, None),
        (Role.ADMIN, Role.MEMBER, Role.OWNER, Forbidden),
        (Role.BILLING, Role.VIEWER, Role.BILLING, Forbidden),
        (Role.BILLING, Role.BILLING, Role.VIEWER, Forbidden),
        (Role.ADMIN, Role.OWNER, Role.VIEWER, Forbidden),
    ],
)
def test_roles_that_a_role_may_give(
    actor: Role, target: Role, role: Role, error: type[AppError] | None, team: Team
) -> None:
    acting, other = make_user("actor@example.com"), make_user("other@example.com")
    add_member(team, acting, actor)
    add_member(team, other, target)
    access = access_team(acting, team.id, need=None)
    if error is None:
        assert change_role(of(other, team), access=access, role=role).role == role
        entry = AuditEntry.objects.latest("id")
        assert (entry.action, entry.actor) == ("member.role_changed", acting)
        assert entry.told == {"user": other.email, "before": target, "after": role}
    else:
        with pytest.raises(error):
            change_role(of(other, team), access=access, role=role)
        assert of(other, team).role == target


def test_the_last_owner_stays(alice: User, bob: User, team: Team) -> None:
    access = access_team(alice, team.id)
    for act in (
        lambda: change_role(of(alice, team), access=access, role=Role.ADMIN),
        lambda: remove_member(of(alice, team), access=access),
        lambda: leave_team(access),
    ):
        with pytest.raises(Conflict) as caught:
            act()
        assert caught.value.message == LAST_OWNER
    assert of(alice, team).role == Role.OWNER


def test_an_owner_may_go_when_there_is_another(alice: User, bob: User, team: Team) -> None:
    access = access_team(alice, team.id)
    change_role(of(bob, team), access=access, role=Role.OWNER)
    leave_team(access)
    assert list(team.memberships.values_list("user__email", "role")) == [(bob.email, "owner")]
    assert AuditEntry.objects.latest("id").action == "member.left"


def test_an_admin_cannot_remove_an_owner(adam: User, alice: User, team: Team) -> None:
    with pytest.raises(Forbidden):
        remove_member(of(alice, team), access=access_team(adam, team.id))


def test_a_membership_of_another_team_is_refused(alice: User, charlie: User, team: Team) -> None:
    with pytest.raises(Invalid):
        remove_member(charlie.memberships.get(), access=access_team(alice, team.id))


def test_the_same_role_again_is_not_audited(alice: User, bob: User, team: Team) -> None:
    count = AuditEntry.objects.count()
    change_role(of(bob, team), access=access_team(alice, team.id), role=Role.MEMBER)
    assert AuditEntry.objects.count() == count


def test_a_person_is_in_a_team_once(bob: User, team: Team) -> None:
    with pytest.raises(Conflict):
        add_member(team, bob, Role.ADMIN)
    assert of(bob, team).role == Role.MEMBER


@pytest.mark.django_db(transaction=True)
def test_two_owners_leave_at_once() -> None:
    owners = [make_user("one@example.com"), make_user("two@example.com")]
    team = make_team(owners[0])
    add_member(team, owners[1], Role.OWNER)
    accesses = [access_team(owner, team.id) for owner in owners]
    barrier = Barrier(2)
    outcomes: list[str] = []

    def leave(number: int) -> None:
        barrier.wait(timeout=10)
        try:
            leave_team(accesses[number])
            outcomes.append("left")
        except Conflict as exc:
            outcomes.append(exc.message)
        finally:
            connection.close()

    threads = [Thread(target=leave, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert sorted(outcomes) == sorted(["left", LAST_OWNER])
    assert team.memberships.filter(role=Role.OWNER).count() == 1
