from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path

import pytest

from opencode_web.lib.db import in_db
from providers.llm.facts import Cost, Price
from sessions.models import Session
from sessions.runner import run_session
from sessions.runner.turn import provider_turn
from teams.access import access_team
from teams.actions.budgets import change_budgets
from teams.actions.usage import rebuild_totals
from teams.budgets.spending import spent_this_month
from teams.models import Reservation, User
from tests.sessions.factories import make_project, make_session
from tests.sessions.runner.test_funds_property import ask, team_with_prices
from tests.sessions.runner.vendor import StrictVendor

# A full answer of 16,000 tokens is $2.40, and what is read for it about $0.15.
COST = Cost(Price(Decimal(3), Decimal(150), Decimal("0.3"), Decimal("3.75")), is_known=True)


async def test_twenty_parallel_turns_spend_no_more_than_ten_dollars(
    alice: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = await in_db(team_with_prices, alice, COST, output=16_000)
    access = await in_db(access_team, alice, team.slug)
    await in_db(change_budgets, access, team=Decimal(10), each=None, members={})
    project = await in_db(make_project, team, tmp_path / "p", git=False)
    sessions = [await in_db(make_session, alice, project) for _ in range(20)]
    vendor = StrictVendor(COST)
    # Each would say more than it may.
    vendor.writes = 100_000
    monkeypatch.setattr(provider_turn, "stream", vendor.stream)
    for session in sessions:
        await in_db(ask, alice, session)
    await asyncio.gather(*(run_session(session.pk) for session in sessions))

    billed = sum(vendor.billed.values())
    assert Decimal(5) < billed <= 10
    assert (await in_db(spent_this_month, team))[None] == billed
    assert await in_db(rebuild_totals, write=False) == []
    assert not await in_db(Reservation.objects.exists)
    waiting = await in_db(Session.objects.filter(waits_for="funds").count)
    assert waiting == 20 - len(vendor.calls)
    # The last of them were cut to what was left, and say so.
    least = min(call.limit for call in vendor.calls.values())
    assert least >= 4_000
