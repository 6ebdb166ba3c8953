from __future__ import annotations

from decimal import Decimal

import pytest

from sessions.wire import to_ms
from teams.budgets import next_month
from teams.models import AuditEntry, Budget, Scope, Team, User
from tests.factories import make_usage
from tests.sessions.api.conftest import Connect

pytestmark = pytest.mark.django_db


def test_fr_02_budgets_are_set_and_told(
    connect: Connect, alice: User, bob: User, team: Team
) -> None:
    make_usage(team, bob, cost=Decimal("1.70"))
    body = {"team": 10, "each": 5.5, "members": [{"userID": bob.pk, "limit": "2.00"}]}
    answer = connect(alice, Scope.ADMIN).put("/budget", body, "application/json")
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert told["until"] == to_ms(next_month())
    assert (told["spent"], told["each"]) == (1.7, 5.5)
    assert told["team"] == {"limit": 10.0, "left": 8.3, "percent": 17, "reached": False}
    lines = {line["userID"]: line for line in told["members"]}
    assert lines[bob.pk] == {
        "userID": bob.pk,
        "name": "Bob",
        "email": "bob@example.com",
        "own": True,
        "spent": 1.7,
        "budget": {"limit": 2.0, "left": 0.3, "percent": 85, "reached": False},
    }
    assert lines[alice.pk]["budget"]["limit"] == 5.5
    assert connect(alice).get("/budget").json() == told
    # Members that are not named keep theirs, the rest is as given.
    told = connect(alice, Scope.ADMIN).put("/budget", {"team": 3}, "application/json").json()
    assert "each" not in told
    assert list(Budget.objects.order_by("scope").values_list("scope", "amount")) == [
        ("member", 2),
        ("team", 3),
    ]


def test_members_get_their_own_line_and_change_nothing(
    connect: Connect, alice: User, bob: User
) -> None:
    connect(alice, Scope.ADMIN).put("/budget", {"each": 5}, "application/json")
    told = connect(bob).get("/budget").json()
    assert [line["userID"] for line in told["members"]] == [bob.pk]
    assert connect(bob).put("/budget", {"each": 500}, "application/json").status_code == 403
    assert Budget.objects.get().amount == 5


def test_fr_02_the_limit_of_a_session_stays_until_it_is_named(
    connect: Connect, alice: User, team: Team
) -> None:
    def put(body: object) -> object:
        answer = connect(alice, Scope.ADMIN).put("/budget", body, "application/json")
        return answer.json().get("session") if answer.status_code == 200 else answer.status_code

    assert put({"session": 2.5}) == 2.5
    assert put({"team": 9}) == 2.5
    team.refresh_from_db()
    assert team.config == {"limits": {"session_cost": "2.5"}}
    assert [put({"session": wrong}) for wrong in (0, -1, 1e9)] == [400, 400, 400]
    assert put({"session": None}) is None
    assert connect(alice).get("/budget").json().get("session") is None


def test_fr_02_billing_sets_the_budgets_with_a_token_of_full_scope(
    connect: Connect, alice: User, bill: User
) -> None:
    told = connect(bill, Scope.ADMIN).put("/budget", {"each": 5}, "application/json").json()
    assert {line["userID"] for line in told["members"]} == {alice.pk, bill.pk}
    refused = connect(bill, Scope.WRITE).put("/budget", {"each": 9}, "application/json")
    assert (refused.status_code, Budget.objects.get().amount) == (403, 5)


@pytest.mark.parametrize(
    "body",
    [
        {"team": -1},
        {"team": "1.234"},
        {"team": 1e9},
        {"team": "NaN"},
        {"members": [{"userID": 2**40, "limit": 1}]},
    ],
)
def test_what_cannot_be_a_budget_is_refused(
    body: dict[str, object], connect: Connect, alice: User
) -> None:
    assert connect(alice, Scope.ADMIN).put("/budget", body, "application/json").status_code == 400
    assert not Budget.objects.exists()


def test_models_without_a_price_are_allowed_when_an_admin_says_so(
    connect: Connect, alice: User, team: Team
) -> None:
    admin = connect(alice, Scope.ADMIN)
    told = admin.put("/budget", {"team": 3}, "application/json").json()
    assert told["allowUnpriced"] is False
    told = admin.put("/budget", {"team": 3, "allowUnpriced": True}, "application/json").json()
    assert told["allowUnpriced"] is True
    # What is not named stays.
    assert admin.put("/budget", {"team": 4}, "application/json").json()["allowUnpriced"] is True
    team.refresh_from_db()
    assert team.allows_unpriced_models
    changes = AuditEntry.objects.filter(action="budgets.changed").order_by("-pk")[1].data["changes"]
    assert changes == [{"scope": "unpriced", "before": False, "after": True}]
