from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from teams.budgets.spending import spent_this_month
from teams.models import Team, User
from tests.factories import make_team, make_usage

pytestmark = pytest.mark.django_db

ClientFor = Callable[[User | None], Client]
PAGE = "/t/acme/settings/members"


def spend(team: Team, user: User | None, cost: str, *, days: int = 0) -> None:
    time = timezone.now() - timedelta(days=days)
    make_usage(team, user, cost=Decimal(cost), time=time)


def order(client: Client, sort: str) -> list[str]:
    page = client.get(PAGE, {"sort": sort}).content.decode()
    return re.findall(r'<p class="meta">(\w+)@example\.com', page)


def test_members_are_told_with_day_and_cost(
    client_for: ClientFor, team: Team, alice: User, bob: User, vera: User
) -> None:
    today = timezone.now().date()
    seen = today - timedelta(days=1)
    User.objects.filter(pk=bob.pk).update(last_seen_on=seen, is_active=False)
    spend(team, bob, "12.345")
    page = client_for(vera).get(PAGE).content.decode()
    assert "yesterday" in page
    assert "never" in page
    assert page.count("Deactivated") == 1
    assert "$12.35" in page
    # Whoever looks is seen.
    assert User.objects.get(pk=vera.pk).last_seen_on == today


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("role", ["alice", "bob", "vera"]),
        ("name", ["alice", "bob", "vera"]),
        ("spent", ["bob", "alice", "vera"]),
        ("seen", ["vera", "alice", "bob"]),
        ("<b>", ["alice", "bob", "vera"]),
    ],
)
def test_the_table_is_sorted(
    sort: str,
    expected: list[str],
    client_for: ClientFor,
    team: Team,
    alice: User,
    bob: User,
    vera: User,
) -> None:
    day = timezone.now().date() + timedelta(days=1)
    User.objects.filter(pk=vera.pk).update(last_seen_on=day)
    spend(team, bob, "1")
    client = client_for(alice)
    assert order(client, sort) == expected
    page = client.get(PAGE, {"sort": sort}).content.decode()
    assert page.count("aria-sort=") == 1
    assert "<b>" not in page.split("<table")[1].split("</table>")[0]


def test_spend_counts_what_was_asked_this_month_in_the_team(
    team: Team, alice: User, bob: User, django_assert_num_queries: Any
) -> None:
    for user, cost, days in ((alice, "1.5", 0), (alice, "2", 0), (alice, "8", 40), (bob, "0", 0)):
        spend(team, user, cost, days=days)
    spend(team, None, "3")
    with django_assert_num_queries(1):
        assert spent_this_month(team) == {None: Decimal("6.5"), alice.pk: Decimal("3.5")}
    assert spent_this_month(make_team(bob, name="Other")) == {}
