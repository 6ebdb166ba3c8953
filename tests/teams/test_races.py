from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from opencode_web.lib.errors import Forbidden, Invalid, NotFound
from teams.access import TeamAccess, access_team
from teams.actions.members import remove_member
from teams.actions.services import access_service, create_service, delete_service, update_service
from teams.actions.teams import transfer_team
from teams.models import Membership, Role, Team, User
from tests.races import race

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def access(alice: User, team: Team) -> TeamAccess:
    return access_team(alice, team.pk)


@pytest.fixture
def service(access: TeamAccess) -> Membership:
    return create_service(access, name="Runner", role=Role.MEMBER)


def changes(access: TeamAccess, row: Membership, **given: Any) -> Any:
    return lambda: update_service(access, row, **given)


def test_a_rename_beside_a_disable_does_not_enable_a_service_account(
    access: TeamAccess, service: Membership
) -> None:
    stale = access_service(access, service.user_id)
    faults = race(changes(access, service, enabled=False), changes(access, stale, name="Nightly"))
    assert faults == [None, None]
    user = access_service(access, service.user_id).user
    assert (user.name, user.is_active) == ("Nightly", False)


def test_a_disable_beside_a_rename_keeps_the_name(access: TeamAccess, service: Membership) -> None:
    stale = access_service(access, service.user_id)
    faults = race(changes(access, service, name="Nightly"), changes(access, stale, enabled=False))
    assert faults == [None, None]
    user = access_service(access, service.user_id).user
    assert (user.name, user.is_active) == ("Nightly", False)


def test_a_deleted_service_account_is_not_enabled(access: TeamAccess, service: Membership) -> None:
    stale = access_service(access, service.user_id)
    faults = race(lambda: delete_service(access, service), changes(access, stale, enabled=True))
    assert faults[0] is None
    assert isinstance(faults[1], NotFound)
    assert not User.objects.get(pk=service.user_id).is_active


def test_a_page_saves_only_what_was_changed_on_it(
    access: TeamAccess, service: Membership, client: Client
) -> None:
    client.force_login(access.user)
    path = f"/t/acme/settings/services/{service.user_id}"
    assert 'name="initial-role" value="member"' in client.get(path).content.decode()
    update_service(access, service, role=Role.VIEWER)
    sent = {"name": "Nightly", "initial-name": "Runner", "role": "member", "initial-role": "member"}
    client.post(path, sent)
    now = access_service(access, service.user_id)
    assert (now.user.name, now.role) == ("Nightly", Role.VIEWER)


def test_a_team_is_not_handed_to_somebody_who_is_removed(
    access: TeamAccess, team: Team, alice: User, bob: User
) -> None:
    to = Membership.objects.get(user=bob)
    faults = race(
        lambda: remove_member(to, access=access),
        lambda: transfer_team(team, actor=alice, to=to),
    )
    assert faults[0] is None
    assert isinstance(faults[1], Invalid)
    assert Membership.objects.get(team=team, role=Role.OWNER).user == alice


def test_a_team_is_handed_over_once(team: Team, alice: User, bob: User, vera: User) -> None:
    to_bob, to_vera = (Membership.objects.get(user=user) for user in (bob, vera))
    faults = race(
        lambda: transfer_team(team, actor=alice, to=to_bob),
        lambda: transfer_team(team, actor=alice, to=to_vera),
    )
    assert faults[0] is None
    assert isinstance(faults[1], Forbidden)
    assert Membership.objects.get(team=team, role=Role.OWNER).user == bob
