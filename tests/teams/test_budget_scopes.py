from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from opencode_web.lib.errors import Conflict, Forbidden, Invalid, NotFound
from teams.access import access_team
from teams.actions.budget_limits import (
    put_instance_limit,
    put_limit,
    remove_instance_limit,
    remove_limit,
)
from teams.actions.budget_requests import answer_request, ask_for_more
from teams.actions.budgets import note_budgets, reserve
from teams.actions.services import create_service
from teams.actions.teams import delete_team
from teams.budget_notices import instance_notices, notices_of
from teams.budgets import BudgetReached, Limit, Scope, Standing, load_standings, require_funds
from teams.budgets.forecast import forecast
from teams.models import AuditEntry, Budget, Period, Reservation, Role, Team, User
from tests.factories import make_team, make_usage, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(db: None) -> User:
    return make_user("op@example.com", operator=True)


def limit(scope: str, period: str = "day", **more: Any) -> Limit:
    return Limit(Scope(scope), Period(period), **more)


def held(
    team: Team, user: User, project: str = "prj_1", amount: str = "1", **more: str
) -> Reservation:
    wanted = Reservation(
        id=f"{user.pk}{project}{more}",
        team=team,
        user=user,
        project=project,
        amount=Decimal(amount),
        **more,
    )
    return reserve(wanted, least=Decimal(amount))


@pytest.mark.parametrize(
    ("period", "start", "end", "key"),
    [
        ("day", "2026-11-26", "2026-11-27", "2026-11-26"),
        ("week", "2026-11-23", "2026-11-30", "2026-W48"),
        ("month", "2026-11-01", "2026-12-01", "2026-11"),
    ],
)
def test_periods_are_days_weeks_from_monday_and_months_of_utc(
    period: str, start: str, end: str, key: str
) -> None:
    one, now = Period(period), datetime(2026, 11, 26, 23, 59, tzinfo=UTC)
    assert [f"{day:%Y-%m-%d}" for day in (one.start(now), one.end(now))] == [start, end]
    assert one.key(one.first_day(now)) == key


def test_a_call_must_fit_into_every_budget_that_holds_for_it(
    team: Team, alice: User, bob: User, operator: User
) -> None:
    access = access_team(alice, "acme")
    robot = create_service(access, name="Robot", role=Role.MEMBER).user
    put_limit(access, limit("team"), amount=Decimal(9))
    put_limit(access, limit("project", "week", project="prj_1"), amount=Decimal(3))
    put_limit(access, limit("each"), amount=Decimal(2))
    put_limit(access, limit("service"), amount=Decimal(4))
    team.refresh_from_db()
    assert held(team, bob, amount="2").amount == 2
    with pytest.raises(BudgetReached, match="may need the rest"):
        held(team, bob, "prj_2", "1")
    # A service account has its own instead, and other projects have none.
    assert held(team, robot, "prj_2", "4").amount == 4
    with pytest.raises(BudgetReached, match="may need the rest"):
        held(team, alice, amount="2")
    put_instance_limit(operator, limit("instance"), amount=Decimal(7))
    with pytest.raises(BudgetReached, match="this server's budget"):
        held(make_team(alice, name="Other"), alice, "prj_3", "2")


def test_a_budget_of_a_model_counts_it_by_the_name_that_its_provider_knows(
    team: Team, alice: User, bob: User
) -> None:
    access = access_team(alice, "acme")
    put_limit(access, limit("model", "week", model="acme/big*"), amount=Decimal(3))
    team.refresh_from_db()
    renamed = {"provider": "acme", "model": "cheap", "api_model": "big-2"}
    make_usage(team, bob, cost=Decimal("0.50"), **renamed)
    make_usage(team, bob, cost=Decimal(7), provider="acme", model="small")
    assert [(one.spent, one.model) for one in load_standings(team, bob.pk, model=None)] == [
        (Decimal("0.50"), "acme/big*")
    ]
    # Nothing is called, so no model stops a prompt.
    require_funds(team, bob.pk)
    assert held(team, bob, amount="2", provider="acme", model="big-1").amount == 2
    with pytest.raises(BudgetReached, match="may need the rest"):
        held(team, alice, **renamed)
    assert held(team, alice, amount="9", provider="acme", model="small").amount == 9
    assert held(team, alice, amount="9", provider="other", model="big-1").amount == 9
    with pytest.raises(BudgetReached, match=r"budget for acme/big\* is not enough"):
        held(team, alice, "prj_2", amount="4", **renamed)


def test_more_of_a_models_budget_is_asked_for_and_its_warning_is_kept_once(
    team: Team, alice: User, bob: User
) -> None:
    access = access_team(alice, "acme")
    rows = [
        put_limit(access, limit("model", model=name), amount=Decimal(2))
        for name in ("acme/big", "acme/*")
    ]
    team.refresh_from_db()
    make_usage(team, bob, cost=Decimal(2), provider="acme", model="big")
    assert (note_budgets(), note_budgets()) == (2, 0)
    assert [one.model for one in notices_of(access)] == ["acme/*", "acme/big"]
    with pytest.raises(BudgetReached, match="Other models may still be used"):
        held(team, bob, provider="acme", model="big")
    for row in rows:
        asked = ask_for_more(
            access_team(bob, "acme"), budget_id=row.pk, amount=Decimal(5), reason="More"
        )
        answer_request(asked, actor=alice, grant=Decimal(5))
    assert held(team, bob, amount="5", provider="acme", model="big").amount == 5


@pytest.mark.parametrize(
    ("scope", "model", "message"),
    [
        ("model", "", "Name a model for the budget of a model"),
        ("team", "acme/big", "Name a model for the budget of a model"),
        ("model", "big", "provider/model"),
    ],
)
def test_a_budget_of_a_model_names_one(
    team: Team, alice: User, scope: str, model: str, message: str
) -> None:
    with pytest.raises(Invalid, match=message):
        put_limit(access_team(alice, "acme"), limit(scope, model=model), amount=Decimal(1))


def test_the_servers_budget_holds_for_new_teams_and_counts_deleted_ones(
    team: Team, alice: User, operator: User
) -> None:
    row = put_instance_limit(operator, limit("instance"), amount=Decimal(5))
    make_usage(team, alice, cost=Decimal(5))
    delete_team(team, actor=alice, confirm="acme")
    other = make_team(alice, name="Other")
    with pytest.raises(BudgetReached, match="An operator can raise it") as refused:
        require_funds(other, alice.pk)
    # What other teams spend is nobody's business here.
    assert "$5" not in str(refused.value)
    remove_instance_limit(operator, row.pk)
    other.refresh_from_db()
    assert not other.has_budgets
    require_funds(other, alice.pk)


def test_only_operators_set_the_servers_budgets_and_teams_only_their_own(
    team: Team, alice: User, bob: User, operator: User
) -> None:
    with pytest.raises(Forbidden, match="Only operators"):
        put_instance_limit(alice, limit("instance"), amount=Decimal(5))
    with pytest.raises(Forbidden):
        put_limit(access_team(bob, "acme"), limit("team"), amount=Decimal(5))
    access = access_team(alice, "acme")
    for wrong in (
        limit("instance"),
        limit("member"),
        limit("team", user_id=bob.pk),
        limit("project"),
        limit("member", user_id=operator.pk),
    ):
        with pytest.raises(Invalid):
            put_limit(access, wrong, amount=Decimal(5))
    row = put_instance_limit(operator, limit("instance"), amount=Decimal(5))
    with pytest.raises(NotFound):
        remove_limit(access, row.pk)


def test_a_soft_budget_refuses_nothing_and_is_told_once(
    team: Team, alice: User, bob: User, operator: User
) -> None:
    access = access_team(alice, "acme")
    put_limit(access, limit("team", "week", is_soft=True), amount=Decimal(2))
    put_limit(access, limit("project", project="prj_1"), amount=Decimal(5))
    put_instance_limit(operator, limit("instance", is_soft=True), amount=Decimal(3))
    team.refresh_from_db()
    make_usage(team, bob, cost=Decimal("1.9"))
    assert note_budgets() == 0
    make_usage(team, bob, cost=Decimal("2.2"))
    require_funds(team, bob.pk, "prj_1")
    assert note_budgets() == 3
    assert note_budgets() == 0
    found = notices_of(access).values_list("period", "is_soft", "project", "threshold")
    assert sorted(found) == [("day", False, "prj_1", 80), ("week", True, "", 100)]
    assert instance_notices().get().threshold == 100
    assert not notices_of(access_team(bob, "acme")).exists()
    make_usage(team, bob, cost=Decimal(1))
    with pytest.raises(BudgetReached, match="Project budget reached"):
        require_funds(team, bob.pk, "prj_1")
    assert note_budgets() == 1


def test_what_is_granted_counts_until_the_period_ends_and_only_for_the_asker(
    team: Team, alice: User, bob: User, adam: User
) -> None:
    access, mine = access_team(alice, "acme"), access_team(bob, "acme")
    row = put_limit(access, limit("each"), amount=Decimal(2))
    mine.team.refresh_from_db()
    make_usage(team, bob, cost=Decimal(2))
    make_usage(team, adam, cost=Decimal(2))
    asked = {"budget_id": row.pk, "reason": "Release day"}
    with pytest.raises(Invalid, match="above 0"):
        ask_for_more(mine, amount=Decimal(0), **asked)
    request = ask_for_more(mine, amount=Decimal(3), **asked)
    with pytest.raises(Conflict, match="already asked"):
        ask_for_more(mine, amount=Decimal(3), **asked)
    with pytest.raises(Forbidden):
        answer_request(request, actor=bob, grant=Decimal(3))
    answer_request(request, actor=alice, grant=Decimal(1), answer="Half")
    with pytest.raises(Conflict, match="already been answered"):
        answer_request(request, actor=adam, grant=Decimal(9))
    team.refresh_from_db()
    require_funds(team, bob.pk)
    with pytest.raises(BudgetReached):
        require_funds(team, adam.pk)
    assert [one.limit for one in load_standings(team, bob.pk)] == [3]
    request.start -= timedelta(days=1)
    request.save()
    with pytest.raises(BudgetReached):
        require_funds(team, bob.pk)
    actions = AuditEntry.objects.filter(action__startswith="budget.").values_list("action", "actor")
    assert [*actions.order_by("pk")] == [
        ("budget.requested", bob.pk),
        ("budget.request_answered", alice.pk),
    ]


def test_more_of_the_servers_budget_is_granted_by_operators_alone(
    team: Team, alice: User, bob: User, operator: User
) -> None:
    row = put_instance_limit(operator, limit("instance", "month"), amount=Decimal(1))
    make_usage(team, bob, cost=Decimal(1))
    team.refresh_from_db()
    request = ask_for_more(
        access_team(bob, "acme"), budget_id=row.pk, amount=Decimal(2), reason="To go on"
    )
    with pytest.raises(Forbidden):
        answer_request(request, actor=alice, grant=Decimal(2))
    answer_request(request, actor=operator, grant=Decimal(2))
    require_funds(team, alice.pk)


def test_nobody_asks_for_a_budget_that_does_not_hold_for_them(
    team: Team, alice: User, bob: User, charlie: User
) -> None:
    access = access_team(alice, "acme")
    own = put_limit(access, limit("member", user_id=alice.pk), amount=Decimal(2))
    soft = put_limit(access, limit("team", is_soft=True), amount=Decimal(2))
    for asker, slug, row in ((bob, "acme", own), (bob, "acme", soft), (charlie, "globex", soft)):
        with pytest.raises(Invalid, match="does not limit you"):
            ask_for_more(
                access_team(asker, slug), budget_id=row.pk, amount=Decimal(1), reason="More"
            )


@pytest.mark.parametrize(
    ("hours", "spent", "runs_out", "total"),
    [
        # Too little of the day has passed.
        (2, "9", None, None),
        (6, "0", None, None),
        (6, "2", None, "8.00"),
        # It would last until after the year 9999.
        (6, "0.000001", None, "0.00"),
        (6, "5", "12:00", "20.00"),
        (12, "10", None, None),
    ],
)
def test_a_forecast_is_a_straight_line(
    hours: int, spent: str, runs_out: str | None, total: str | None
) -> None:
    standing = Standing(Scope.TEAM, Decimal(10), Decimal(spent), period=Period.DAY)
    found = forecast(standing, now=datetime(2026, 11, 26, hours, tzinfo=UTC))
    assert (found and str(found.total)) == total
    when = found.runs_out if found else None
    assert (when and f"{when:%H:%M}") == runs_out


def test_there_is_one_budget_of_each_kind(team: Team, alice: User) -> None:
    access = access_team(alice, "acme")
    for amount in (1, 2):
        put_limit(access, limit("project", project="prj_1"), amount=Decimal(amount))
    put_limit(access, limit("project", project="prj_2"), amount=Decimal(3))
    assert sorted(Budget.objects.values_list("project", "amount")) == [("prj_1", 2), ("prj_2", 3)]
