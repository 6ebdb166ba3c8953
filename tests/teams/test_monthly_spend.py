from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from hashlib import sha256
from importlib import import_module
from io import StringIO
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from teams.actions.usage import WrongTotal, rebuild_totals, remove_usage
from teams.budgets import next_month
from teams.budgets.spending import spent_this_month
from teams.models import Spend, Team, UsageEntry, User
from tests.factories import make_usage
from tests.races import race

pytestmark = pytest.mark.django_db
_costs = st.decimals("0", "5000", places=10)
_months = st.integers(1, 12)


def summed() -> dict[str, Decimal]:
    """The totals, added up here from all entries."""
    found: dict[str, Decimal] = {}
    for entry in UsageEntry.objects.all():
        for period in ("%Y-%m", "%G-W%V", "%Y-%m-%d"):
            key = f"{entry.team_id}.{entry.time:{period}}"
            name = f"{entry.provider}/{entry.api_model or entry.model}"
            model = f"{key}.model-{sha256(name.encode()).hexdigest()[:32]}"
            names = [key, f"{key}.{entry.project}", model]
            for one in [*names, f"{key}.{entry.user_id}"] if entry.user_id else names:
                found[one] = found.get(one, Decimal(0)) + entry.cost
    return {key: cost for key, cost in found.items() if cost}


def totals() -> dict[str, Decimal]:
    return {row.id: row.cost for row in Spend.objects.all() if row.cost}


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(used=st.lists(st.tuples(_costs, _months, st.booleans(), st.sampled_from("ab")), max_size=12))
def test_totals_are_the_sums_of_their_entries(
    team: Team, alice: User, used: list[tuple[Decimal, int, bool, str]]
) -> None:
    UsageEntry.objects.all().delete()
    Spend.objects.all().delete()
    for cost, month, is_alices, session in used:
        time = datetime(2026, month, 28, 23, 59, tzinfo=UTC)
        user = alice if is_alices else None
        # One model under two names: its provider knows it by one.
        names = {"model": session, "api_model": "" if session == "a" else "a"}
        make_usage(team, user, cost=cost, time=time, session=session, **names)
    assert totals() == summed()
    remove_usage("a")
    assert totals() == summed()
    assert rebuild_totals(write=False) == []


def test_thousands_of_fractions_add_up_exactly(team: Team, alice: User) -> None:
    for _ in range(1_000):
        make_usage(team, alice, cost=Decimal("0.0000001003"))
    make_usage(team, alice, cost=Decimal("99999.3"))
    expected = Decimal("99999.3001003")
    assert spent_this_month(team) == {None: expected, alice.pk: expected}


def test_the_total_of_a_deleted_account_stays_with_the_team(team: Team, bob: User) -> None:
    make_usage(team, bob, cost=Decimal(2))
    bob.delete()
    assert spent_this_month(team) == {None: Decimal(2)}
    assert rebuild_totals(write=False) == []


def test_the_migration_sums_up_what_is_there(team: Team, alice: User) -> None:
    for cost, user, month in (("1.5", alice, 1), ("0.0000000001", alice, 1), ("2", None, 2)):
        time = datetime(2026, month, 1, tzinfo=UTC)
        make_usage(team, user, cost=Decimal(cost), time=time)
    before = totals()
    assert len(before) == 3 * 7
    Spend.objects.all().delete()
    for name, step in (("0022_fill_spend", "_fill"), ("0041_fill_model_spend", "fill")):
        migration: Any = import_module(f"teams.migrations.{name}")
        getattr(migration, step)(apps, None)
    assert totals() == before


@pytest.mark.django_db(transaction=True)
def test_a_rebuild_beside_a_new_total_finds_nothing_wrong(team: Team, alice: User) -> None:
    make_usage(team, None, cost=Decimal(3))
    found: list[WrongTotal] = []
    faults = race(
        lambda: make_usage(team, alice, cost=Decimal(2)),
        lambda: found.extend(rebuild_totals(write=True)),
    )
    assert faults == [None, None]
    assert found == []
    assert totals() == summed()


def test_rebuild_says_and_mends_a_total_that_is_wrong(team: Team, alice: User) -> None:
    make_usage(team, alice, cost=Decimal(3))
    right = totals()
    Spend.objects.filter(user=None).update(cost=7)
    Spend.objects.filter(user=alice).delete()
    with pytest.raises(CommandError, match="Rows differ"):
        call_command("rebuild", all=True, check=True, stdout=StringIO())
    out = StringIO()
    call_command("rebuild", all=True, stdout=out)
    assert "was 7.0000000000, its entries sum to 3.0000000000" in out.getvalue()
    assert totals() == right


@pytest.mark.parametrize(("month", "after"), [((2026, 11), (2026, 12)), ((2026, 12), (2027, 1))])
def test_a_month_ends_where_the_next_one_begins(
    month: tuple[int, int], after: tuple[int, int]
) -> None:
    assert next_month(datetime(*month, 15, 12, tzinfo=UTC)) == datetime(*after, 1, tzinfo=UTC)
