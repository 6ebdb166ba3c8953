from __future__ import annotations

import json
from decimal import Decimal

import pytest

from opencode_web.lib.errors import Conflict, Forbidden
from sessions.actions.budget_limits import answer_request, put_limit, remove_limit
from sessions.actions.change_approval import approve_request
from sessions.actions.change_requests import (
    request_change,
    set_approvals,
)
from sessions.actions.settings import update_team_settings
from sessions.actions.team_items import mark_of, put_team_item
from sessions.approvals.hold import NeedsApproval
from sessions.models import ChangeKind, Project
from teams.actions.budget_requests import ask_for_more
from teams.actions.members import set_approver
from teams.budgets import Limit, Scope
from teams.models import Budget, Period, Role, Team, User
from tests.factories import add_member, make_user
from tests.sessions.held_changes import (
    HARD,
    KINDS,
    Status,
    ask,
    of,
    set_own,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def held(team: Team, alice: User, adam: User) -> Team:
    set_approvals(of(alice, team), KINDS)
    team.refresh_from_db()
    return team


def test_only_named_approvers_decide(held: Team, project: Project, alice: User, adam: User) -> None:
    second = make_user("second@example.com")
    other = add_member(held, second, Role.ADMIN)
    set_approver(other, access=of(alice, held), is_approver=True)
    row = ask(lambda: set_own(adam, project))
    with pytest.raises(Forbidden, match="Only an approver"):
        approve_request(of(alice, held), row)
    assert approve_request(of(second, held), row).status == Status.APPROVED
    with pytest.raises(NeedsApproval) as held_change:
        set_own(second, project)
    with pytest.raises(Conflict, match="nobody else in the team could approve"):
        request_change(held_change.value)


def test_the_policy_needs_somebody_who_can_decide(alice: User, team: Team, bob: User) -> None:
    with pytest.raises(Conflict, match="Secrets: nobody else in the team could approve this"):
        set_approvals(of(alice, team), [ChangeKind.SECRETS])
    assert set_approvals(of(alice, team), [ChangeKind.MERGE])
    with pytest.raises(Forbidden):
        set_approvals(of(bob, team), [])
    # More of it needs nobody, less of it another owner.
    with pytest.raises(NeedsApproval) as held:
        set_approvals(of(alice, team), [])
    with pytest.raises(Conflict, match="second person with the role owner"):
        request_change(held.value)
    second = make_user("second@example.com")
    add_member(team, second, Role.OWNER)
    assert set_approvals(of(alice, team), [ChangeKind.MERGE, ChangeKind.SECRETS])
    row = ask(lambda: set_approvals(of(alice, team), [ChangeKind.SECRETS]))
    assert row.need == Role.OWNER
    set_approvals(of(alice, team), [ChangeKind.MERGE, ChangeKind.SECRETS, ChangeKind.PUSH])
    assert approve_request(of(second, team), row).status == Status.FAILED
    row = ask(lambda: set_approvals(of(alice, team), []))
    approve_request(of(second, team), row)
    team.refresh_from_db()
    assert team.needs_approval == []


def test_a_tighter_budget_needs_nobody(held: Team, adam: User, bob: User) -> None:
    access = of(adam, held)
    each = Limit(Scope.EACH, Period.MONTH)
    own = Limit(Scope.MEMBER, Period.MONTH, user_id=bob.pk)
    put_limit(access, HARD, amount=Decimal(50))
    put_limit(access, HARD, amount=Decimal(40))
    put_limit(access, each, amount=Decimal(10))
    put_limit(access, own, amount=Decimal(5))
    for looser in (
        lambda: put_limit(access, own, amount=Decimal(11)),
        lambda: remove_limit(access, Budget.objects.get(user=bob).pk),
        lambda: put_limit(access, each, amount=Decimal(11)),
        # A program would be held to less without it.
        lambda: put_limit(access, Limit(Scope.SERVICE, Period.MONTH), amount=Decimal(11)),
    ):
        with pytest.raises(NeedsApproval):
            looser()
    Budget.objects.filter(user=bob).delete()
    with pytest.raises(NeedsApproval):
        put_limit(access, own, amount=Decimal(11))
    put_limit(access, own, amount=Decimal(10))
    # Without its own, a member is held to what holds for each.
    remove_limit(access, Budget.objects.get(user=bob).pk)


def test_who_asks_for_more_of_a_budget_does_not_grant_it(
    held: Team, alice: User, adam: User
) -> None:
    put_limit(of(alice, held), HARD, amount=Decimal(5))
    row = ask_for_more(
        of(adam, held), budget_id=Budget.objects.get().pk, amount=Decimal(5), reason="Release"
    )
    with pytest.raises(Forbidden, match="You have asked"):
        answer_request(row, actor=adam, grant=Decimal(5))
    assert answer_request(row, actor=alice, grant=Decimal(5)).granted == 5


def test_rules_are_saved_apart_from_other_settings(held: Team, adam: User) -> None:
    with pytest.raises(Conflict, match="separately"):
        update_team_settings(of(adam, held), {"permission": {"bash": "allow"}, "model": "a/b"})
    update_team_settings(of(adam, held), {"model": "a/b"})
    row = ask(lambda: update_team_settings(of(adam, held), {"permission": {"bash": "allow"}}))
    update_team_settings(of(adam, held), {"model": "c/d"})
    approve_request(of(User.objects.get(email="alice@example.com"), held), row)
    held.refresh_from_db()
    assert held.config == {"model": "c/d", "permission": {"bash": "allow"}}


def test_rules_keep_their_order(held: Team, alice: User, adam: User) -> None:
    rules = {"bash": {"*": "ask", "git *": "allow"}, "*": "ask"}
    row = ask(lambda: update_team_settings(of(adam, held), {"permission": rules}))
    approve_request(of(alice, held), row)
    held.refresh_from_db()
    assert json.dumps(held.config["permission"]) == json.dumps(rules)
    turned = {"*": "ask", "bash": {"git *": "allow", "*": "ask"}}
    with pytest.raises(NeedsApproval):
        put_team_item(of(adam, held), ("permission",), turned, seen=mark_of(rules))
