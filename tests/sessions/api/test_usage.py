from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from sessions.models import Project
from teams.models import Scope, Team, User
from tests.factories import make_usage
from tests.sessions.api.conftest import Connect
from tests.sessions.api.shapes import ERROR, check

pytestmark = pytest.mark.django_db
DAYS = "since=2026-03-04&until=2026-03-05"


@pytest.fixture(autouse=True)
def used(team: Team, project: Project, alice: User, bob: User) -> None:
    for user, cost, day in ((alice, "0.5", 4), (bob, "2", 5), (bob, "1", 5), (bob, "8", 3)):
        time = datetime(2026, 3, day, 12, tzinfo=UTC)
        make_usage(team, user, cost=Decimal(cost), time=time, project=project.pk)


def test_fr_02_the_usage_of_the_team_is_told_with_its_parts(
    connect: Connect, project: Project, alice: User, bob: User
) -> None:
    told = connect(alice, Scope.READ).get(f"/usage?{DAYS}").json()
    tokens = {
        "input": 300,
        "output": 60,
        "reasoning": 9,
        "cache": {"read": 120, "write": 15},
    }
    counts = {"calls": 3, "turns": 1, "tokens": tokens}
    assert told["total"] == {"cost": 3.5, "bound": 0, "unpriced": 0, **counts}
    assert (told["since"], told["until"], told["before"]["cost"]) == (
        "2026-03-04",
        "2026-03-05",
        8.0,
    )
    assert [(one["day"], one["cost"]) for one in told["days"]] == [
        ("2026-03-04", 0.5),
        ("2026-03-05", 3.0),
    ]
    assert [(one["userID"], one["email"], one["cost"]) for one in told["members"]] == [
        (bob.pk, "bob@example.com", 3.0),
        (alice.pk, "alice@example.com", 0.5),
    ]
    assert [(one["providerID"], one["modelID"]) for one in told["models"]] == [("demo", "inline")]
    assert [(one["projectID"], one["name"]) for one in told["projects"]] == [
        (project.pk, project.name)
    ]
    assert "team" not in told
    filtered = connect(alice).get(f"/usage?{DAYS}&member={alice.pk}&model=demo/inline").json()
    assert filtered["total"]["cost"] == 0.5


def test_fr_02_upper_bounds_and_calls_without_a_price_are_told_apart(
    connect: Connect, alice: User, team: Team
) -> None:
    time = datetime(2026, 3, 4, 12, tzinfo=UTC)
    make_usage(team, alice, cost=Decimal("0.25"), basis="bound", time=time)
    make_usage(team, alice, basis="unpriced", time=time)
    told = connect(alice).get(f"/usage?{DAYS}").json()["total"]
    assert (told["cost"], told["bound"], told["unpriced"]) == (3.75, 0.25, 1)


def test_people_below_admins_get_their_own_and_the_total(
    connect: Connect, alice: User, bob: User
) -> None:
    told = connect(bob).get(f"/usage?{DAYS}").json()
    assert (told["total"]["cost"], told["team"]["cost"]) == (3.0, 3.5)
    assert [one["userID"] for one in told["members"]] == [bob.pk]
    assert connect(bob).get(f"/usage?{DAYS}&member={alice.pk}").status_code == 403


def test_fr_02_billing_gets_everybodys_usage_of_their_one_team(
    connect: Connect, alice: User, bob: User, bill: User
) -> None:
    told = connect(bill, Scope.READ).get(f"/usage?{DAYS}").json()
    assert told["total"]["cost"] == 3.5
    assert [one["userID"] for one in told["members"]] == [bob.pk, alice.pk]
    assert connect(bill).get(f"/usage?{DAYS}&member={alice.pk}").json()["total"]["cost"] == 0.5


@pytest.mark.parametrize(
    "wrong", ["range=8", "since=soon", "member=x", "until=2026-03-01&since=2026-03-02"]
)
def test_what_cannot_be_asked_for_is_said(connect: Connect, alice: User, wrong: str) -> None:
    response = connect(alice).get(f"/usage?{wrong}")
    assert response.status_code == 400
    check(response.json(), ERROR)
    assert wrong.partition("=")[0] in response.json()["data"]["message"]


def test_a_cost_that_nobody_knows_is_null(connect: Connect, alice: User, team: Team) -> None:
    make_usage(team, alice, basis="unpriced", time=datetime(2026, 4, 4, 12, tzinfo=UTC))
    told = connect(alice).get("/usage?since=2026-04-04&until=2026-04-05").json()["total"]
    assert (told["cost"], told["unpriced"]) == (None, 1)
