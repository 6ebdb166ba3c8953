from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Conflict
from providers.llm.events import Finished, FinishReason, StreamEvent, TextDelta
from providers.llm.facts import Cost, Price
from providers.llm.messages import ProviderRequest, Usage
from providers.models import LearnedBound
from sessions.models import Session
from sessions.runner import run_session
from sessions.runner.drain import attempts, title_request
from sessions.runner.drain.title_request import write_title
from sessions.runner.log import single_request
from sessions.runner.turn import provider_turn
from teams.access import access_team
from teams.actions.budgets import change_budgets, settle_lost_calls
from teams.budgets.spending import spent_this_month
from teams.models import Reservation, Team, UsageEntry, User
from tests.sessions.factories import make_project, make_session
from tests.sessions.runner.drains import drain, parts_of, stop, until
from tests.sessions.runner.test_funds_property import ask, team_with_prices
from tests.sessions.runner.vendor import Ending, StrictVendor

COST = Cost(Price(Decimal(1), Decimal(100), Decimal(1), Decimal(1)), is_known=True)


@pytest.fixture
def team(alice: User) -> Team:
    team = team_with_prices(alice, COST, output=20_000, name="Priced")
    limit(team, alice, "5")
    return team


@pytest.fixture
def session(alice: User, team: Team, tmp_path: Path) -> Session:
    return make_session(alice, make_project(team, tmp_path / "p", git=False))


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch) -> StrictVendor:
    vendor = StrictVendor(COST)
    for module in (provider_turn, single_request):
        monkeypatch.setattr(module, "stream", vendor.stream)
    return vendor


def limit(team: Team, user: User, amount: str | None, **more: Any) -> None:
    given = Decimal(amount) if amount else None
    access = access_team(user, team.slug)
    change_budgets(access, team=given, each=None, members={}, **more)


def entries() -> list[tuple[str, Decimal]]:
    return list(UsageEntry.objects.order_by("time").values_list("basis", "cost"))


async def begin(user: User, session: Session, vendor: StrictVendor) -> asyncio.Task[None]:
    vendor.waits = True
    await in_db(ask, user, session)
    task = asyncio.create_task(run_session(session.pk))
    await until(lambda: session.pk in vendor.calls and parts_of(session, "text"))
    return task


async def test_a_stopped_answer_counts_what_had_come(
    alice: User, session: Session, vendor: StrictVendor
) -> None:
    task = await begin(alice, session, vendor)
    held = await in_db(Reservation.objects.get)
    await stop(alice, session)
    await task
    ((basis, cost),) = await in_db(entries)
    assert basis == "bound"
    # What was read, and a few words of an answer that may have been two dollars long.
    assert vendor.billed[session.pk] <= cost < Decimal("0.20")
    assert held.amount > 2
    assert not await in_db(Reservation.objects.exists)
    await in_db(session.refresh_from_db)
    assert session.cost == cost


async def test_an_answer_that_is_stopped_while_it_is_summed_up_counts_what_it_used(
    alice: User, session: Session, vendor: StrictVendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    summing_up = asyncio.Event()

    async def slow_git(*_: object) -> list[Any]:
        summing_up.set()
        await asyncio.sleep(60)
        return []

    monkeypatch.setattr(provider_turn, "turn_summary", slow_git)
    task = await begin(alice, session, vendor)
    vendor.calls[session.pk].go_on.set()
    await asyncio.wait_for(summing_up.wait(), 25)
    await stop(alice, session)
    await task
    assert await in_db(entries) == [("counted", vendor.billed[session.pk])]
    assert not await in_db(Reservation.objects.exists)
    await in_db(session.refresh_from_db)
    assert session.outcome == "stopped"


async def test_a_try_that_is_stopped_before_it_is_made_costs_nothing(
    alice: User, session: Session, vendor: StrictVendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "MAX_SLEEP_S", 60)
    task = await begin(alice, session, vendor)
    vendor.calls[session.pk].ending = "refuse"
    vendor.calls[session.pk].go_on.set()
    await until(lambda: parts_of(session, "retry"))
    assert await in_db(Reservation.objects.exists)
    await stop(alice, session)
    await task
    assert await in_db(entries) == []
    assert not await in_db(Reservation.objects.exists)


@pytest.mark.parametrize(("ending", "counts"), [("cut", True), ("refuse", False)])
async def test_a_try_that_failed_counts_all_that_may_be_billed(
    alice: User, session: Session, vendor: StrictVendor, ending: Ending, counts: bool
) -> None:
    task = await begin(alice, session, vendor)
    held = await in_db(Reservation.objects.get)
    vendor.calls[session.pk].ending = ending
    vendor.calls[session.pk].go_on.set()
    await task
    await in_db(session.refresh_from_db)
    assert session.waits_for == "retry"
    assert await in_db(entries) == ([("bound", held.amount)] if counts else [])
    assert not await in_db(Reservation.objects.exists)


async def test_a_provider_that_does_not_count_is_not_free(
    alice: User, session: Session, vendor: StrictVendor
) -> None:
    task = await begin(alice, session, vendor)
    vendor.calls[session.pk].ending = "uncounted"
    vendor.calls[session.pk].go_on.set()
    await task
    ((basis, cost),) = await in_db(entries)
    assert basis == "bound"
    assert cost >= vendor.billed[session.pk] > 0


async def test_an_answer_that_the_budget_cuts_short_says_so(
    alice: User, team: Team, session: Session, vendor: StrictVendor
) -> None:
    await in_db(limit, team, alice, "1")
    vendor.writes = 50_000
    await in_db(ask, alice, session)
    await drain(session)
    assert 4_000 <= vendor.calls[session.pk].limit < 10_000
    assert session.outcome_reason["reason"] == "at_budget"
    assert vendor.billed[session.pk] <= 1


async def test_what_is_billed_beyond_a_reservation_is_counted_and_learned(
    alice: User, team: Team, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[int | None] = []

    async def boundless(request: ProviderRequest) -> AsyncGenerator[StreamEvent, None]:
        limits.append(request.max_output_tokens)
        yield TextDelta("Hello.")
        yield Finished(FinishReason.STOP, Usage(output_tokens=30_000))

    await in_db(limit, team, alice, "3.50")
    monkeypatch.setattr(provider_turn, "stream", boundless)
    for _ in range(2):
        await in_db(ask, alice, session)
        await drain(session)
    # What is left would have been enough for a short answer, had the limit been kept.
    assert limits == [20_000]
    assert session.waits_for == "funds"
    assert (await in_db(spent_this_month, team))[None] == 3
    learned = await in_db(LearnedBound.objects.get)
    assert (learned.provider, learned.model, learned.output) == ("acme", "m", Decimal("1.500"))
    await in_db(limit, team, alice, "20")
    await drain(session)
    # A limit of 20,000 is taken for 30,000.
    assert limits == [20_000, 20_000]
    assert (await in_db(LearnedBound.objects.get)).output == Decimal("1.500")


async def test_a_title_is_paid_for_or_not_asked_for(
    alice: User, team: Team, session: Session, vendor: StrictVendor, settings: Any
) -> None:
    settings.TITLES = True
    await in_db(ask, alice, session)
    await drain(session)
    await in_db(limit, team, alice, "0")
    await write_title(session.pk)
    assert len(await in_db(entries)) == 1
    await in_db(limit, team, alice, "5")
    before = vendor.billed[session.pk]
    await write_title(session.pk)
    assert vendor.calls[session.pk].limit == title_request.MAX_OUTPUT_TOKENS
    assert vendor.billed[session.pk] > before
    assert (await in_db(spent_this_month, team))[None] == vendor.billed[session.pk]
    assert not await in_db(Reservation.objects.exists)


async def test_a_title_whose_process_died_counts_all_that_was_set_apart(
    alice: User, team: Team
) -> None:
    held = Reservation(
        id="title.ses_1", team=team, user=alice, provider="acme", model="m", amount=Decimal("0.2")
    )
    await in_db(held.save)
    await in_db(settle_lost_calls)
    assert await in_db(entries) == []
    old = held.created_at.replace(year=2020)
    await in_db(Reservation.objects.update, created_at=old)
    await in_db(settle_lost_calls)
    assert await in_db(entries) == [("bound", Decimal("0.2"))]
    assert (await in_db(spent_this_month, team))[alice.pk] == Decimal("0.2")
    assert not await in_db(Reservation.objects.exists)


async def test_a_model_without_a_price_is_refused_until_the_team_allows_it(
    alice: User, team: Team, session: Session, vendor: StrictVendor
) -> None:
    config = {"provider": {"acme": {"models": {"m": {"limit": {"context": 9_000, "output": 99}}}}}}
    await in_db(lambda: Team.objects.filter(pk=team.pk).update(config=config))
    with pytest.raises(Conflict, match="The price of m is not known") as refused:
        await in_db(ask, alice, session)
    assert "allow models without a price under Budgets" in refused.value.message
    assert "ask whoever manages acme to enter a price" in refused.value.message
    await in_db(limit, team, alice, "5", allows_unpriced=True)
    await in_db(ask, alice, session)
    await drain(session)
    assert session.outcome == "done"
    assert await in_db(entries) == [("unpriced", Decimal(0))]
    assert session.is_partly_unpriced


async def test_a_price_that_goes_while_a_prompt_waits_fails_its_turn(
    alice: User, team: Team, session: Session, vendor: StrictVendor
) -> None:
    await in_db(ask, alice, session)
    config = {"provider": {"acme": {"models": {"m": {}}}}}
    await in_db(lambda: Team.objects.filter(pk=team.pk).update(config=config))
    await drain(session)
    assert (session.outcome, vendor.calls) == ("failed", {})
    assert session.outcome_detail.startswith("The price of m is not known")


async def test_without_a_budget_any_model_may_be_used(
    alice: User, team: Team, session: Session, vendor: StrictVendor
) -> None:
    await in_db(limit, team, alice, None)
    task = await begin(alice, session, vendor)
    await stop(alice, session)
    await task
    assert await in_db(entries) == []


async def test_what_a_provider_says_it_has_billed_is_counted_and_held_to_the_budget(
    alice: User, team: Team, session: Session, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    async def billing(request: ProviderRequest) -> AsyncGenerator[StreamEvent, None]:
        yield TextDelta("Hello.")
        yield Finished(FinishReason.STOP, Usage(10, 10), billed=Decimal("0.75"))

    for module in (provider_turn, single_request):
        monkeypatch.setattr(module, "stream", billing)
    settings.TITLES = True
    await in_db(ask, alice, session)
    await drain(session)
    await write_title(session.pk)
    assert await in_db(entries) == [("billed", Decimal("0.75"))] * 2
    assert (await in_db(spent_this_month, team))[None] == Decimal("1.5")
