from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from opencode_web.celery import app
from sessions.models import Project
from teams import tasks
from teams.access import access_team
from teams.actions.budgets import change_budgets, note_budgets
from teams.actions.members import remove_member
from teams.models import Budget, BudgetNotice, Membership, Team, User
from tests.factories import make_team, make_usage, make_user

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
HOME, USAGE, BUDGETS = "/t/acme/", "/t/acme/usage", "/t/acme/settings/budgets"
TEAM, BOBS = "budget for this month is spent: $8.50 of $10.00", "$1.60 of $2.00"


@pytest.fixture
def budgets(alice: User, bob: User, team: Team, project: Project) -> None:
    access = access_team(alice, "acme")
    change_budgets(access, team=Decimal(10), each=None, members={bob.pk: Decimal(2)})


@pytest.fixture
def warned(budgets: None, alice: User, bob: User, team: Team) -> None:
    make_usage(team, bob, cost=Decimal("1.60"))
    make_usage(team, alice, cost=Decimal("6.90"))
    assert note_budgets() == 2


def shown(client: Client, page: str) -> list[str]:
    """What the banners of a page say."""
    html = client.get(page, follow=True).content.decode()
    found = re.search(r'<div id="budget-notices".*?</div>', html, re.DOTALL)
    return re.findall(r"<span>(.*?) <", found[0]) if found else []


def away(client: Client, page: str) -> Any:
    html = client.get(page, follow=True).content.decode()
    action = re.search(r'action="([^"]+/away)"', html)
    assert action is not None
    return client.post(action[1], {"page": "usage"})


def noted() -> set[tuple[str, int | None, int]]:
    return set(BudgetNotice.objects.values_list("team__slug", "user", "threshold"))


def test_a_passed_threshold_is_noted_once_a_month(
    budgets: None, alice: User, bob: User, team: Team
) -> None:
    make_usage(team, bob, cost=Decimal("1.59"))
    make_usage(team, alice, cost=Decimal("6.40"))
    assert note_budgets() == 0
    make_usage(team, bob, cost=Decimal("0.01"))
    tasks.note()
    assert note_budgets() == 0
    assert noted() == {("acme", None, 80), ("acme", bob.pk, 80)}
    # The same threshold again, after more was given, says nothing new; the next one does.
    change_budgets(access_team(alice, "acme"), team=Decimal(20), each=None, members={})
    make_usage(team, alice, cost=Decimal(9))
    assert note_budgets() == 0
    make_usage(team, alice, cost=Decimal(3))
    assert note_budgets() == 1
    assert noted() >= {("acme", None, 80), ("acme", None, 100)}
    row = BudgetNotice.objects.get(threshold=100)
    assert (row.spent, row.limit) == (20, 20)


def test_a_budget_warns_at_its_own_level(budgets: None, alice: User, team: Team) -> None:
    make_usage(team, alice, cost=Decimal(6))
    assert note_budgets() == 0
    access = access_team(alice, "acme")
    change_budgets(access, team=Decimal(10), each=None, members={}, warn_percent=60)
    assert note_budgets() == 1
    assert noted() == {("acme", None, 60)}
    # Amounts alone leave it.
    change_budgets(access, team=Decimal(11), each=None, members={})
    assert team.budgets.get(scope="team").warn_percent == 60


def test_every_member_is_measured_by_what_holds_for_them(
    alice: User, bob: User, vera: User, team: Team, project: Project
) -> None:
    access = access_team(alice, "acme")
    members = {vera.pk: Decimal(0), alice.pk: Decimal(100)}
    change_budgets(access, team=None, each=Decimal(5), members=members)
    for user in (alice, bob, vera):
        make_usage(team, user, cost=Decimal(5))
    gone = make_user("gone@example.com")
    make_usage(team, gone, cost=Decimal(5))
    last = timezone.now().replace(day=1) - timedelta(days=2)
    make_usage(team, alice, cost=Decimal(500), time=last)
    other = make_team(gone, name="Other", slug="other")
    make_usage(other, gone, cost=Decimal(5))
    assert note_budgets() == 1
    # A budget of nothing says itself that nothing is left.
    assert noted() == {("acme", bob.pk, 100)}


def test_who_leaves_is_measured_no_more(budgets: None, alice: User, bob: User, team: Team) -> None:
    make_usage(team, bob, cost=Decimal("1.60"))
    remove_member(Membership.objects.get(user=bob), access=access_team(alice, "acme"))
    assert Budget.objects.filter(user=bob).exists()
    assert note_budgets() == 0


def test_fr_02_the_warning_stands_until_each_has_put_it_away(
    warned: None, alice: User, bob: User, vera: User, bill: User, client_for: ClientFor
) -> None:
    for user in (alice, bill):
        for page in (HOME, USAGE, BUDGETS):
            texts = shown(client_for(user), page)
            assert len(texts) == 2
            assert TEAM in texts[1]
            assert "80 % of Bob&#x27;s" in texts[0]
            assert BOBS in texts[0]
    (own,) = shown(client_for(bob), HOME)
    assert own.startswith("80 % of your budget")
    assert BOBS in own
    assert shown(client_for(vera), HOME) == []
    for user, left in ((bob, 0), (alice, 1)):
        answer = away(client_for(user), USAGE)
        assert (answer.status_code, answer["Location"]) == (302, USAGE)
        assert len(shown(client_for(user), HOME)) == left
    # It is kept, and others have it yet.
    assert len(shown(client_for(bill), HOME)) == 2
    page = client_for(bob).get(BUDGETS).content.decode()
    assert "80 % of your budget" in page.split('id="warnings-head"')[1]
    assert "$10.00" not in page.split('id="warnings-head"')[1].split("</section>")[0]


def test_beside_the_field_it_is_said_to_whom_no_warning_says_it(
    warned: None, alice: User, bob: User, client_for: ClientFor
) -> None:
    def count(user: User, text: str) -> int:
        return client_for(user).get(HOME).content.decode().count(text)

    make_usage(Team.objects.get(), alice, cost=Decimal("0.10"))
    assert (count(alice, "the team&#x27;s budget"), count(bob, "of your budget")) == (1, 1)
    assert away(client_for(bob), HOME).status_code == 302
    assert (count(bob, "Dismiss this warning"), count(bob, "of your budget")) == (0, 1)


def test_a_warning_that_is_none_of_theirs_cannot_be_put_away(
    warned: None, bob: User, vera: User, charlie: User, client_for: ClientFor
) -> None:
    notice = BudgetNotice.objects.get(user=None)
    path = f"{BUDGETS}/notices/{notice.pk}/away"
    for user in (bob, vera, charlie):
        assert client_for(user).post(path).status_code == 404
    assert client_for(charlie).post(path.replace("acme", "globex")).status_code == 404
    assert not notice.put_away_by.exists()


def test_of_one_budget_the_newest_warning_is_shown_and_takes_the_older_along(
    warned: None, alice: User, bob: User, team: Team, client_for: ClientFor
) -> None:
    make_usage(team, bob, cost=Decimal("0.40"))
    assert note_budgets() == 1
    (text,) = shown(client_for(bob), HOME)
    assert text.startswith("100 % of your budget")
    assert away(client_for(bob), HOME).status_code == 302
    assert shown(client_for(bob), HOME) == []


def test_a_month_later_nothing_is_left_of_it(
    warned: None, alice: User, client_for: ClientFor
) -> None:
    BudgetNotice.objects.update(start="2020-01-01")
    assert shown(client_for(alice), HOME) == []


def test_it_is_looked_at_every_minute() -> None:
    app.loader.import_default_modules()
    assert app.conf.beat_schedule["note-budgets"]["task"] == tasks.note.name
    assert app.conf.beat_schedule["note-budgets"]["schedule"] == 60
