from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone

from teams import spend
from teams.models import Team, User
from teams.spend import spend_of_members

pytestmark = pytest.mark.django_db

ClientFor = Callable[[User | None], Client]
PAGE = "/t/acme/settings/members"


@pytest.fixture
def spent(monkeypatch: pytest.MonkeyPatch) -> dict[int, Decimal]:
    costs: dict[int, Decimal] = {}

    def source(team: Team, *, since: datetime) -> dict[int, Decimal]:
        assert (since.day, since.hour) == (1, 0)
        return costs

    monkeypatch.setattr(spend, "_sources", [source])
    return costs


def order(client: Client, sort: str) -> list[str]:
    page = client.get(PAGE, {"sort": sort}).content.decode()
    return re.findall(r'<p class="meta">(\w+)@example\.com', page)


def test_members_are_told_with_day_and_cost(
    client_for: ClientFor, team: Team, alice: User, bob: User, vera: User, spent: dict[int, Decimal]
) -> None:
    today = timezone.now().date()
    User.objects.filter(pk=bob.pk).update(last_seen_on=today - timedelta(days=1))
    spent[bob.pk] = Decimal("12.345")
    page = client_for(vera).get(PAGE).content.decode()
    assert "yesterday" in page
    assert "not yet" in page
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
    spent: dict[int, Decimal],
) -> None:
    day = timezone.now().date() + timedelta(days=1)
    User.objects.filter(pk=vera.pk).update(last_seen_on=day)
    spent[bob.pk] = Decimal(1)
    client = client_for(alice)
    assert order(client, sort) == expected
    page = client.get(PAGE, {"sort": sort}).content.decode()
    assert page.count("aria-sort=") == 1
    assert "<b>" not in page.split("<table")[1].split("</table>")[0]


def test_sources_are_added_up(
    monkeypatch: pytest.MonkeyPatch, team: Team, alice: User, spent: dict[int, Decimal]
) -> None:
    spent[alice.pk] = Decimal(2)
    monkeypatch.setattr(spend, "_sources", spend._sources * 2)
    month = timezone.now().replace(day=1, hour=0)
    assert spend_of_members(team, since=month) == {alice.pk: Decimal(4)}
