from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from sessions.models import Project
from sessions.views.usage import COLUMNS
from teams.models import Team, User
from tests.factories import make_team, make_usage

pytestmark = pytest.mark.django_db

ClientFor = Callable[[User | None], Client]
PAGE = "/t/acme/usage"


@pytest.fixture
def client_for() -> ClientFor:
    def sign_in(user: User | None) -> Client:
        client = Client()
        if user is not None:
            client.force_login(user)
        return client

    return sign_in


@pytest.fixture
def used(team: Team, project: Project, alice: User, bob: User) -> None:
    team.config = {"provider": {"demo": {"models": {"big": {"name": "Big One"}}}}}
    team.save()
    now = timezone.now()
    for user, cost, days, model, prompt in (
        (alice, "3", 0, "big", "msg_1"),
        (alice, "1", 0, "small", "msg_1"),
        (bob, "4", 1, "big", "msg_2"),
        (None, "0", 2, "big", "msg_3"),
        # The 30 days before.
        (bob, "5", 40, "big", "msg_4"),
    ):
        make_usage(
            team,
            user,
            project=project.pk if user != bob else "prj_gone",
            cost=Decimal(cost),
            time=now - timedelta(days=days),
            model=model,
            prompt=prompt,
        )
    make_usage(make_team(bob, name="Other"), bob, cost=Decimal(99))


def figures(page: str) -> list[str]:
    return re.findall(r'usage-value">([^<]*)<', page)


def names(page: str, table: str) -> list[str]:
    part = page.split(f'id="usage-{table}"')[1].split("</section>")[0]
    return re.findall(r'usage-name"><p><a href="[^"]*">([^<]*)<', part)


def test_fr_02_the_team_s_usage_is_added_up(client_for: ClientFor, alice: User, used: None) -> None:
    page = client_for(alice).get(PAGE).content.decode()
    assert figures(page) == ["$8.00", "672", "3", "4"]
    assert "60 % more than before" in page
    assert names(page, "members") == ["Alice", "Bob", "Deleted accounts"]
    assert names(page, "models") == ["Big One", "small"]
    assert '<p class="meta">demo/big</p>' in page
    assert names(page, "projects") == ["shop", "Deleted project j_gone"]
    assert page.count('<rect class="usage-bar"') == 2
    assert page.count("<time datetime") == 30
    assert "$99" not in page


@pytest.mark.parametrize(
    ("asked", "cost"),
    [
        ({"range": "90"}, "$13.00"),
        ({"model": "demo/small"}, "$1.00"),
        ({"member": "0"}, "$0"),
        ({"member": "{bob}"}, "$4.00"),
        ({"member": "{bob}", "range": "90", "project": "prj_gone"}, "$9.00"),
        ({"since": "{today}"}, "$4.00"),
        ({"since": "{today}", "until": "{today}", "range": "90"}, "$4.00"),
    ],
)
def test_the_address_says_what_is_asked_for(
    client_for: ClientFor, alice: User, bob: User, used: None, asked: dict[str, str], cost: str
) -> None:
    today = f"{timezone.now():%Y-%m-%d}"
    given = {name: text.format(bob=bob.pk, today=today) for name, text in asked.items()}
    page = client_for(alice).get(PAGE, given).content.decode()
    assert figures(page)[0] == cost


def test_a_day_ends_at_midnight_of_utc(client_for: ClientFor, team: Team, alice: User) -> None:
    for hour, cost in ((0, "1"), (23, "2")):
        time = datetime(2026, 3, 5, hour, 59, tzinfo=UTC)
        make_usage(team, alice, cost=Decimal(cost), time=time)
    make_usage(team, alice, cost=Decimal(8), time=datetime(2026, 3, 6, tzinfo=UTC))
    days = {"since": "2026-03-05", "until": "2026-03-05"}
    page = client_for(alice).get(PAGE, days).content.decode()
    assert figures(page)[0] == "$3.00"
    assert "no earlier data" in page


def test_what_is_chosen_can_be_taken_away(
    client_for: ClientFor, alice: User, bob: User, used: None
) -> None:
    given = {"range": "7", "member": str(bob.pk), "model": "demo/big"}
    page = client_for(alice).get(PAGE, given).content.decode()
    chips = page.split("Filters:</span>")[1].split("</p>")[0]
    assert re.findall(r'href="([^"]*)"><span>([^<]*)', chips) == [
        ("?range=7&amp;model=demo%2Fbig", "Bob"),
        (f"?range=7&amp;member={bob.pk}", "Big One"),
    ]


def test_people_below_admins_see_their_own_and_the_total(
    client_for: ClientFor, alice: User, bob: User, vera: User, used: None
) -> None:
    page = client_for(bob).get(PAGE).content.decode()
    assert figures(page)[0] == "$4.00"
    assert "Team total: $8.00" in page
    assert "Alice" not in page
    assert 'id="usage-members"' not in page
    assert client_for(bob).get(PAGE, {"member": bob.pk}).status_code == 200
    for path in (PAGE, f"{PAGE}.csv"):
        assert client_for(bob).get(path, {"member": alice.pk}).status_code == 403
    assert "No model was called in this period." in client_for(vera).get(PAGE).content.decode()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"since": "2026-03-05", "until": "2026-03-01"}, "This is before the start date."),
        ({"since": "2020-03-05", "until": "2026-03-01"}, "Choose at most 366 days."),
        ({"since": "soon"}, "Enter a valid date."),
        ({"range": "8"}, "The filter is not valid."),
        ({"since": "0001-01-01", "until": "0001-01-02"}, "or equal to"),
        ({"until": "9999-12-31"}, "or equal to"),
        ({"until": "1970-01-01"}, ""),
    ],
)
def test_what_cannot_be_asked_for_is_said(
    client_for: ClientFor, alice: User, used: None, asked: dict[str, str], said: str
) -> None:
    response = client_for(alice).get(PAGE, asked)
    assert response.status_code == (422 if said else 200)
    assert said in response.content.decode()
    assert client_for(alice).get(f"{PAGE}.csv", asked).status_code == (400 if said else 200)


def test_the_number_of_queries_does_not_grow(
    client_for: ClientFor, team: Team, alice: User, used: None, django_assert_max_num_queries: Any
) -> None:
    client = client_for(alice)
    client.get(PAGE)
    for number in range(20):
        make_usage(team, alice, model=f"m{number}", cost=Decimal(1))
    with django_assert_max_num_queries(16):
        client.get(PAGE)


def test_what_is_shown_can_be_downloaded(
    client_for: ClientFor, alice: User, bob: User, used: None
) -> None:
    User.objects.filter(pk=bob.pk).update(name="=HYPERLINK(1)")
    response = client_for(alice).get(f"{PAGE}.csv", {"model": "demo/big"})
    rows = list(csv.reader(io.StringIO(response.content.decode())))
    assert rows[0] == list(COLUMNS)
    assert [(row[1], row[4], Decimal(row[-2])) for row in rows[1:]] == [
        ("Deleted accounts", "big", 0),
        ("'=HYPERLINK(1)", "big", 4),
        ("Alice", "big", 3),
    ]
    assert re.fullmatch(
        r'attachment; filename="usage-acme-[\d-]+\.csv"', response["Content-Disposition"]
    )


def test_what_nobody_knows_the_price_of_is_unknown_and_not_free(
    client_for: ClientFor, alice: User, team: Team
) -> None:
    make_usage(team, alice, basis="unpriced")
    client = client_for(alice)
    page = client.get(PAGE).content.decode()
    assert figures(page)[0] == "unknown"
    assert "unknown, 168" in page
    days = page.split('id="usage-days"')[1].split("</section>")[0]
    assert days.count(">unknown</td>") == 1
    rows = list(csv.DictReader(io.StringIO(client.get(f"{PAGE}.csv").content.decode())))
    assert [(row["cost"], row["unpriced"]) for row in rows] == [("", "1")]
