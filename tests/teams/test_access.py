from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser

from opencode_web.lib.errors import Forbidden, NotFound
from teams.access import access_team, has_role, require_role, teams_of
from teams.models import Role, Team, User
from tests.factories import add_member, make_team, make_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("role", "allowed"),
    [
        (Role.OWNER, {Role.OWNER, Role.ADMIN, Role.MEMBER, Role.VIEWER, Role.BILLING}),
        (Role.ADMIN, {Role.ADMIN, Role.MEMBER, Role.VIEWER, Role.BILLING}),
        (Role.MEMBER, {Role.MEMBER, Role.VIEWER}),
        (Role.VIEWER, {Role.VIEWER}),
        (Role.BILLING, {Role.BILLING}),
    ],
)
def test_each_role_includes_those_below(role: Role, allowed: set[Role], team: Team) -> None:
    user = make_user("x@example.com")
    add_member(team, user, role)
    for need in Role:
        assert has_role(role, need) == (need in allowed)
        if need in allowed:
            assert access_team(user, team.slug, need=need).role == role
        else:
            with pytest.raises(NotFound if role == Role.BILLING else Forbidden):
                access_team(user, team.slug, need=need)
    assert access_team(user, team.slug, need=None).role == role
    assert list(teams_of(user, need=None)) == [team]
    assert list(teams_of(user)) == ([] if role == Role.BILLING else [team])


def test_a_team_is_found_by_slug_and_by_id(bob: User, team: Team) -> None:
    assert access_team(bob, team.slug).team == team
    assert access_team(bob, team.id).team == team


def test_an_outsider_gets_the_same_answer_as_for_no_team(charlie: User, team: Team) -> None:
    with pytest.raises(NotFound) as existing:
        access_team(charlie, team.slug)
    with pytest.raises(NotFound) as missing:
        access_team(charlie, "nothing")
    assert existing.value.message.replace(team.slug, "nothing") == missing.value.message


def test_nobody_and_inactive_people_see_nothing(bob: User, team: Team) -> None:
    with pytest.raises(NotFound):
        access_team(AnonymousUser(), team.slug)
    bob.is_active = False
    with pytest.raises(NotFound):
        access_team(bob, team.slug)
    assert list(teams_of(bob)) == []
    assert list(teams_of(AnonymousUser())) == []


def test_an_operator_does_not_see_teams_by_that(team: Team) -> None:
    operator = make_user("root@example.com")
    operator.is_superuser = True
    operator.save()
    with pytest.raises(NotFound):
        access_team(operator, team.slug)


def test_teams_are_listed_by_name(alice: User, team: Team, charlie: User) -> None:
    make_team(alice, name="Aardvark")
    assert [item.name for item in teams_of(alice)] == ["Aardvark", "Acme"]
    assert [item.name for item in teams_of(charlie)] == ["Globex"]


def test_the_refusal_names_both_roles(vera: User, team: Team) -> None:
    access = access_team(vera, team.slug)
    with pytest.raises(Forbidden, match=r"role member in Acme\. Your role is viewer"):
        require_role(access, Role.MEMBER)


def test_access_takes_one_query(bob: User, team: Team, django_assert_num_queries: object) -> None:
    with django_assert_num_queries(1):  # type: ignore[operator]
        access_team(bob, team.slug, need=Role.MEMBER)
