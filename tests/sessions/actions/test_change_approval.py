from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest
from django.db import connection
from django.utils import timezone

from opencode_web.lib.crypto import decrypt
from opencode_web.lib.errors import AppError, Conflict, Forbidden, Invalid
from sessions.actions.budget_limits import answer_request as answer_budget_request
from sessions.actions.budget_limits import put_limit
from sessions.actions.change_approval import approve_request
from sessions.actions.change_requests import (
    expire_requests,
    explain_request,
    reject_request,
    set_approvals,
    withdraw_request,
)
from sessions.actions.secrets import set_secret
from sessions.actions.settings import update_project_settings, update_team_settings
from sessions.actions.team_secrets import set_team_secret
from sessions.approvals.requests import changes_to_decide
from sessions.models import ChangeRequest, Project, ProjectSecret
from sessions.present.approvals import build_cards
from teams.actions.budget_requests import ask_for_more
from teams.actions.members import change_role, remove_member
from teams.actions.services import create_service, create_service_token
from teams.models import AuditEntry, Budget, Membership, Role, Scope, Team, User
from tests.factories import add_member, make_user
from tests.sessions.held_changes import (
    CASES,
    HARD,
    IDS,
    KINDS,
    VALUE,
    Case,
    Status,
    ask,
    at,
    budgets,
    of,
    price_account,
    priced,
    set_own,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def held(team: Team, alice: User, adam: User) -> Team:
    set_approvals(of(alice, team), KINDS)
    team.refresh_from_db()
    return team


@pytest.mark.each_database
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_change_waits_for_a_second_person_and_is_then_made(
    case: Case, team: Team, project: Project, alice: User, adam: User, bob: User, bill: User
) -> None:
    root = make_user("root@example.com", operator=True)
    until = timezone.now() + timedelta(hours=1)
    Membership.objects.create(team=team, user=root, role=Role.OWNER, expires_at=until, reason="x")
    service = create_service(of(alice, team), name="ci", role=Role.ADMIN).user
    case.before(adam, project)
    set_approvals(of(alice, team), KINDS)

    row = ask(lambda: case.act(adam, project))
    assert (row.what, row.asker, row.status) == (case.what, adam, Status.PENDING)
    assert not case.is_made(project)
    with pytest.raises(Forbidden, match="Emergency access cannot ask"):
        case.act(root, project)
    refused = {
        adam: "You have asked",
        root: "Emergency access",
        service: "service account",
        bob: "Only an approver",
    }
    if row.need != Role.BILLING:
        refused[bill] = "Only an approver"
    for person, why in refused.items():
        for decide in (approve_request, reject_request):
            with pytest.raises(Forbidden, match=why):
                decide(of(person, team), row)
    assert not case.is_made(project)

    done = approve_request(of(alice, team), row, note="Fine")
    assert (done.status, done.decided_by, done.note) == (Status.APPROVED, alice, "Fine")
    assert case.is_made(project)
    with pytest.raises(Conflict, match=r"Approved \(Alice\)"):
        approve_request(of(alice, team), row)
    entries = AuditEntry.objects.filter(team=team).order_by("-pk")[:3]
    made = next(one for one in entries if one.told.get("approved_by"))
    assert (made.actor, made.told["approved_by"]) == (adam, "alice@example.com")
    assert made.told["change_request"] == row.pk
    assert entries[0].action == "change.approved"


@pytest.mark.each_database
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_change_of_what_is_different_by_now_is_not_made(
    case: Case, team: Team, project: Project, alice: User, adam: User
) -> None:
    case.before(adam, project)
    set_approvals(of(alice, team), KINDS)
    row = ask(lambda: case.act(adam, project))
    Team.objects.update(needs_approval=[])
    if row.what == "budgets.set":
        budgets(alice, project, "15")
    elif row.what == "budget.set":
        put_limit(of(alice, team), HARD, amount=Decimal(15))
    elif row.what == "limits.project":
        update_project_settings(at(alice, project), {"limits": {"session_cost": 3}})
    elif row.what == "limits.team":
        update_team_settings(of(alice, team), {"limits": {"session_cost": 3}})
    elif row.what in {"prices.account", "account.delete"}:
        price_account(alice, project, 0.5)
    elif row.what == "prices.project":
        update_project_settings(at(alice, project), priced(2, 20))
    elif row.what == "prices.team":
        update_team_settings(of(alice, team), priced(2, 20))
    elif row.what == "rules.project":
        update_project_settings(at(alice, project), {"permission": {"edit": "deny"}})
    elif row.what == "rules.team":
        update_team_settings(of(alice, team), {"permission": {"edit": "deny"}})
    elif row.what.startswith("secret"):
        set_secret(at(alice, project), name="KEY", value="of somebody else")
    else:
        set_team_secret(of(alice, team), name="KEY", value="of somebody else")

    ended = approve_request(of(alice, team), row)
    assert ended.status == Status.FAILED
    assert "has been changed since" in ended.note
    assert not case.is_made(project)
    assert AuditEntry.objects.order_by("pk").last().action == "change.failed"  # type: ignore[union-attr]


def test_rights_of_both_are_looked_at_again(
    held: Team, project: Project, alice: User, adam: User
) -> None:
    second = make_user("second@example.com")
    other = add_member(held, second, Role.ADMIN)
    row = ask(lambda: set_own(adam, project))
    stale = of(second, held)
    change_role(other, access=of(alice, held), role=Role.MEMBER)
    with pytest.raises(Forbidden, match="Only an approver"):
        approve_request(stale, row)
    membership = Membership.objects.get(user=adam)
    change_role(membership, access=of(alice, held), role=Role.MEMBER)
    assert approve_request(of(alice, held), row).status == Status.FAILED
    assert not ProjectSecret.objects.exists()

    change_role(other, access=of(alice, held), role=Role.ADMIN)
    row = ask(lambda: set_own(alice, project))
    remove_member(Membership.objects.get(user=adam), access=of(alice, held))
    assert approve_request(of(second, held), row).status == Status.APPROVED


def test_a_request_is_explained_withdrawn_rejected_replaced_and_expires(
    held: Team, project: Project, alice: User, adam: User
) -> None:
    first = ask(lambda: set_own(adam, project))
    row = ask(lambda: set_own(adam, project))
    first.refresh_from_db()
    assert first.status == Status.WITHDRAWN
    explain_request(of(adam, held), row, reason="The old one leaked")
    for other in (explain_request, withdraw_request):
        more = {"reason": "x"} if other is explain_request else {}
        with pytest.raises(Forbidden):
            other(of(alice, held), row, **more)  # type: ignore[operator]
    with pytest.raises(Invalid):
        explain_request(of(adam, held), row, reason="x" * 501)
    row.refresh_from_db()
    assert row.reason == "The old one leaked"
    withdraw_request(of(adam, held), row)
    with pytest.raises(Conflict, match="Withdrawn"):
        approve_request(of(alice, held), row)

    row = ask(lambda: set_own(adam, project))
    reject_request(of(alice, held), row, note="Not today")
    row.refresh_from_db()
    assert (row.status, row.note, row.decided_by) == (Status.REJECTED, "Not today", alice)

    row = ask(lambda: set_own(adam, project))
    ChangeRequest.objects.filter(pk=row.pk).update(expires_at=timezone.now())
    with pytest.raises(Conflict, match="Expired"):
        approve_request(of(alice, held), row)
    assert expire_requests() == 1
    assert expire_requests() == 0
    row.refresh_from_db()
    assert row.status == Status.EXPIRED
    assert not ProjectSecret.objects.exists()
    actions = [one.action for one in AuditEntry.objects.order_by("pk") if "change." in one.action]
    assert actions == [
        *("change.requested", "change.withdrawn", "change.requested", "change.withdrawn"),
        *("change.requested", "change.rejected", "change.requested", "change.expired"),
    ]


def test_the_value_of_a_secret_is_nowhere_but_encrypted(
    held: Team, project: Project, alice: User, adam: User
) -> None:
    row = ask(lambda: set_own(adam, project))

    def tables() -> list[str]:
        found = []
        with connection.cursor() as cursor:
            for table in connection.introspection.table_names(cursor):
                cursor.execute(f'SELECT * FROM "{table}"')
                found += [table] if VALUE in repr(cursor.fetchall()) else []
        return found

    assert tables() == []
    assert VALUE in decrypt(row.arguments)
    approve_request(of(alice, held), row)
    row.refresh_from_db()
    assert row.arguments == ""
    assert tables() == []
    for act in (withdraw_request, reject_request):
        with suppress(AppError):
            act(of(adam, held), row)


def test_a_person_has_so_many_open_requests(
    held: Team, project: Project, adam: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions.actions.change_requests.MAX_OPEN", 2)
    for name in ("ONE", "TWO"):
        ask(lambda name=name: set_secret(at(adam, project), name=name, value=VALUE))  # type: ignore[misc]
    with pytest.raises(Conflict, match="already have 2 open requests"):
        ask(lambda: set_own(adam, project))


def test_a_request_that_no_key_opens_goes_on_waiting(
    held: Team, project: Project, alice: User, adam: User
) -> None:
    row = ask(lambda: set_own(adam, project))
    ChangeRequest.objects.update(arguments="damaged")
    with pytest.raises(Conflict, match="can no longer read this request"):
        approve_request(of(alice, held), row)
    assert reject_request(of(alice, held), row).status == Status.REJECTED


def test_nobody_approves_what_a_service_account_asked_for_with_their_token(
    held: Team, project: Project, alice: User, adam: User
) -> None:
    first = create_service(of(adam, held), name="ci", role=Role.ADMIN)
    create_service_token(of(adam, held), first, name="mine", scope=Scope.ADMIN)
    # A program with that token makes another one.
    second = create_service(of(first.user, held), name="helper", role=Role.ADMIN)
    create_service_token(of(first.user, held), second, name="its", scope=Scope.ADMIN)
    for service in (first.user, second.user):
        row = ask(partial(set_own, service, project))
        (seen,) = build_cards(of(adam, held), [row])
        assert (seen.may_decide, seen.waits_for) == (False, "Alice")
        assert row not in changes_to_decide(of(adam, held))
        for decide in (approve_request, reject_request):
            with pytest.raises(Forbidden, match="token of the service account"):
                decide(of(adam, held), row)
    assert not ProjectSecret.objects.exists()
    assert approve_request(of(alice, held), row).status == Status.APPROVED


def test_nobody_grants_more_to_a_service_account_whose_token_they_have(
    held: Team, alice: User, adam: User
) -> None:
    put_limit(of(alice, held), HARD, amount=Decimal(5))
    service = create_service(of(adam, held), name="ci", role=Role.MEMBER)
    create_service_token(of(adam, held), service, name="mine", scope=Scope.WRITE)
    budget = Budget.objects.get(team=held)
    asked = ask_for_more(
        of(service.user, held), budget_id=budget.pk, amount=Decimal(9), reason="More"
    )
    with pytest.raises(Forbidden, match="token of the service account"):
        answer_budget_request(asked, actor=adam, grant=Decimal(9))
    assert answer_budget_request(asked, actor=alice, grant=Decimal(9)).granted == 9
