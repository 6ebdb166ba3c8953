from __future__ import annotations

import asyncio
import itertools
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from providers.credentials import put_key
from providers.kinds import ProviderKind
from providers.llm.facts import Cost, Price, PriceTier
from providers.llm.messages import ModelRef
from providers.models import ProviderConfig
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.models import Run, Session
from sessions.runner import run_session
from sessions.runner.turn import provider_turn
from teams.access import access_team
from teams.actions.budgets import change_budgets
from teams.actions.usage import rebuild_totals
from teams.budgets import BudgetReached, spent_this_month
from teams.models import Reservation, Role, Team, User
from tests.factories import add_member, make_team, make_user
from tests.sessions.factories import make_project, make_session, session_access
from tests.sessions.runner.drains import stop
from tests.sessions.runner.test_retries import make_due
from tests.sessions.runner.vendor import Ending, StrictVendor

MODEL = ModelRef("acme", "m")
PARTS = ("input", "output", "cache_read", "cache_write")
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "15"))
_numbers = itertools.count()
_prices = st.tuples(*[st.decimals("0", "40", places=2)] * 4)
_amounts = st.decimals("0", "6", places=2)
_which = st.integers(0, 2)


def team_with_prices(owner: User, cost: Cost, *, output: int, name: str = "Acme") -> Team:
    """A team whose one model has these prices."""
    team = make_team(owner, name=name)
    row = ProviderConfig.objects.create(
        team=team, provider_id="acme", kind=ProviderKind.OPENAI, name="Acme"
    )
    put_key(row, "k" * 20, actor=owner)
    tiers = [{**_described(one.price), "tier": {"size": one.above_tokens}} for one in cost.tiers]
    limit = {"context": 1_000_000, "output": output}
    model = {"cost": {**_described(cost.base), "tiers": tiers}, "limit": limit}
    team.config = {"provider": {"acme": {"models": {"m": model}}}}
    team.save()
    return team


def _described(price: Price) -> dict[str, Any]:
    return {name: float(getattr(price, name)) for name in PARTS}


def ask(user: User, session: Session, text: str = "Go.") -> None:
    draft = PromptDraft(parts=[{"type": "text", "text": text}], model=MODEL)
    admit_prompt(session_access(user, session), draft)


class Spending(RuleBasedStateMachine):
    """Two people, three sessions, one model, and all that can become of a call."""

    runner: asyncio.Runner
    folder: Path
    monkeypatch: pytest.MonkeyPatch

    @initialize(
        base=_prices,
        long=_prices,
        above=st.integers(1_000, 60_000),
        output=st.integers(0, 20_000),
        limits=st.tuples(_amounts, _amounts),
    )
    def begin(self, base: Any, long: Any, above: int, output: int, limits: Any) -> None:
        cost = Cost(Price(*base), (PriceTier(above, Price(*long)),), is_known=True)
        self.vendor = StrictVendor(cost)
        self.vendor.waits = True
        self.monkeypatch.setattr(provider_turn, "stream", self.vendor.stream)
        number = next(_numbers)
        self.alice = make_user(f"a{number}@example.com")
        bob = make_user(f"b{number}@example.com")
        self.team = team_with_prices(self.alice, cost, output=output, name=f"Team {number}")
        add_member(self.team, bob, Role.MEMBER)
        project = make_project(self.team, self.folder / str(number), git=False)
        self.people = (self.alice, bob, self.alice)
        self.sessions = [make_session(one, project) for one in self.people]
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.left_behind: list[asyncio.Task[None]] = []
        self.limits = (Decimal(0), Decimal(0))
        self.raise_limits(limits)

    @rule(more=st.tuples(_amounts, _amounts))
    def raise_limits(self, more: Any) -> None:
        self.limits = (self.limits[0] + more[0], self.limits[1] + more[1])
        access = access_team(self.alice, self.team.slug)
        change_budgets(access, team=self.limits[0], each=self.limits[1], members={})

    @rule(which=_which, writes=st.integers(0, 30_000), text=st.text(max_size=2_000))
    def work(self, which: int, writes: int, text: str) -> None:
        """Ask for something, or have what waits looked at again."""
        session = self.sessions[which]
        session.refresh_from_db()
        if session.pk in self.tasks:
            return
        if session.state == "idle":
            try:
                ask(self.people[which], session, f"Go. {text}")
            except BudgetReached:  # nothing is left, or there was nothing from the beginning
                return
        elif session.waits_for == "retry":
            make_due(session)
        self.vendor.writes = writes
        self.runner.run(self._work(session))

    @rule(which=_which, ending=st.sampled_from(["finish", "cut", "refuse", "uncounted"]))
    def end_call(self, which: int, ending: Ending) -> None:
        session = self.sessions[which]
        if session.pk in self.tasks:
            call = self.vendor.calls[session.pk]
            call.ending = ending
            call.go_on.set()
            self.runner.run(self._until_quiet(session))

    @rule(which=_which)
    def stop(self, which: int) -> None:
        session = self.sessions[which]
        if session.pk in self.tasks:
            self.runner.run(self._stop(which))

    @rule(which=_which)
    def kill(self, which: int) -> None:
        """The worker is gone from one moment to the next, and the vendor has not noticed."""
        session = self.sessions[which]
        if session.pk in self.tasks:
            self.left_behind.append(self.tasks.pop(session.pk))
            self.vendor.run_on(self.vendor.calls.pop(session.pk))
            past = timezone.now() - timedelta(seconds=1)
            Run.objects.filter(session=session).update(lease_until=past)

    @invariant()
    def nobody_pays_more_than_their_limit(self) -> None:
        billed = self.vendor.billed
        assert sum(billed.values(), Decimal(0)) <= self.limits[0]
        by_person: defaultdict[int, Decimal] = defaultdict(Decimal)
        for person, session in zip(self.people, self.sessions, strict=True):
            by_person[person.pk] += billed[session.pk]
        assert all(amount <= self.limits[1] for amount in by_person.values())

    @invariant()
    def what_is_counted_and_set_apart_covers_what_was_billed(self) -> None:
        spent = spent_this_month(self.team)
        held = dict(Reservation.objects.filter(team=self.team).values_list("id", "amount"))
        for person in set(self.people):
            own = [
                session
                for one, session in zip(self.people, self.sessions, strict=True)
                if one == person
            ]
            billed = sum((self.vendor.billed[one.pk] for one in own), Decimal(0))
            reserved = sum((held.get(one.pk, Decimal(0)) for one in own), Decimal(0))
            counted = spent.get(person.pk, Decimal(0))
            assert billed <= counted + reserved
            assert counted + reserved <= self.limits[1]
        assert sum(held.values(), spent.get(None, Decimal(0))) <= self.limits[0]
        assert rebuild_totals(write=False) == []

    def teardown(self) -> None:
        self.runner.run(self._leave())

    async def _work(self, session: Session) -> None:
        self.vendor.calls.pop(session.pk, None)
        self.tasks[session.pk] = asyncio.create_task(run_session(session.pk))
        await self._until_quiet(session)

    async def _until_quiet(self, session: Session) -> None:
        """Until the drain is over, or a call waits for what shall become of it."""
        task = self.tasks[session.pk]
        async with asyncio.timeout(30):
            while not task.done():
                call = self.vendor.calls.get(session.pk)
                if call is not None and not call.go_on.is_set():
                    return
                await asyncio.sleep(0.002)
        await self.tasks.pop(session.pk)

    async def _stop(self, which: int) -> None:
        session = self.sessions[which]
        await stop(self.people[which], session)
        async with asyncio.timeout(30):
            await self.tasks.pop(session.pk)

    async def _leave(self) -> None:
        tasks = [*self.tasks.values(), *self.left_behind]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for person, session in zip(self.people, self.sessions, strict=True):
            await stop(person, session)
            await run_session(session.pk)


@contextmanager
def runner_that_ends() -> Iterator[asyncio.Runner]:
    """A runner whose tasks end when they are cancelled: `asyncio.Runner` waits for ever."""
    runner = asyncio.Runner()
    try:
        yield runner
    finally:
        stuck = runner.run(_cancel_all())
        assert not stuck, stuck
        runner.close()


async def _cancel_all() -> list[str]:
    """Returns: where each task stands that goes on all the same."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    stuck = (await asyncio.wait(tasks, timeout=30))[1] if tasks else set()
    return [f"{task.get_name()}: {task.get_stack()}" for task in stuck]


def test_spent_never_exceeds_a_limit(
    transactional_db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with runner_that_ends() as runner:
        Spending.runner, Spending.folder, Spending.monkeypatch = runner, tmp_path, monkeypatch
        run_state_machine_as_test(
            Spending, settings=hypothesis_settings(max_examples=EXAMPLES, stateful_step_count=20)
        )
