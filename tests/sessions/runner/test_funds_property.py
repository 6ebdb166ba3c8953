from __future__ import annotations

import asyncio
import itertools
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import ROUND_FLOOR, Decimal
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
from sessions.actions.budget_limits import put_instance_limit, put_limit
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.models import Run, Session
from sessions.runner import run_session
from sessions.runner.turn import provider_turn
from teams.access import access_team
from teams.actions.services import create_service
from teams.actions.usage import rebuild_totals
from teams.budgets import BudgetReached, Limit, Scope
from teams.budgets.spending import spent_by_all
from teams.models import Budget, Period, Reservation, Role, Team, UsageEntry, User
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
_which = st.integers(0, 5)


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


@dataclass(frozen=True)
class Held:
    """One budget of the machine, and the sessions whose calls it counts."""

    limit: Limit
    team: Team | None
    sessions: frozenset[int]


class Spending(RuleBasedStateMachine):
    """Two teams, two people, a service account, a sub-agent, and all that can become of a call."""

    runner: asyncio.Runner
    folder: Path
    monkeypatch: pytest.MonkeyPatch

    @initialize(
        base=_prices,
        long=_prices,
        above=st.integers(1_000, 60_000),
        output=st.integers(0, 20_000),
        limits=st.lists(st.none() | _amounts, min_size=9, max_size=9),
    )
    def begin(self, base: Any, long: Any, above: int, output: int, limits: Any) -> None:
        cost = Cost(Price(*base), (PriceTier(above, Price(*long)),), is_known=True)
        self.vendor = StrictVendor(cost)
        self.vendor.waits = True
        self.monkeypatch.setattr(provider_turn, "stream", self.vendor.stream)
        number = next(_numbers)
        alice, bob = make_user(f"a{number}@example.com"), make_user(f"b{number}@example.com")
        self.operator = make_user(f"o{number}@example.com", operator=True)
        one = team_with_prices(alice, cost, output=output, name=f"Team {number}")
        other = team_with_prices(alice, cost, output=output, name=f"Other {number}")
        self.teams = (one, other)
        add_member(one, bob, Role.MEMBER)
        access = access_team(alice, one.slug)
        robot = create_service(access, name="Robot", role=Role.MEMBER).user
        names = ((one, "a"), (one, "b"), (other, "c"))
        first, second, third = (
            make_project(team, self.folder / f"{number}{name}", name=name, git=False)
            for team, name in names
        )
        self.alice = alice
        self.people = (alice, bob, alice, robot, alice, alice)
        of_project = (first, first, second, second, third)
        self.sessions = [
            make_session(person, project)
            for person, project in zip(self.people, of_project, strict=False)
        ]
        self.sessions.append(make_session(alice, first, parent=self.sessions[0]))
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.left_behind: list[asyncio.Task[None]] = []
        kinds = (
            (Limit(Scope.INSTANCE, Period.DAY), None, {0, 1, 2, 3, 4, 5}),
            (Limit(Scope.TEAM, Period.MONTH), one, {0, 1, 2, 3, 5}),
            (Limit(Scope.TEAM, Period.WEEK), other, {4}),
            (Limit(Scope.PROJECT, Period.DAY, project=first.pk), one, {0, 1, 5}),
            (Limit(Scope.PROJECT, Period.MONTH, project=second.pk), one, {2, 3}),
            (Limit(Scope.EACH, Period.MONTH), one, {1}),
            (Limit(Scope.MEMBER, Period.MONTH, user_id=alice.pk), one, {0, 2, 5}),
            (Limit(Scope.SERVICE, Period.MONTH), one, {3}),
            (Limit(Scope.EACH, Period.WEEK), one, {3}),
        )
        self.held = [Held(limit, team, frozenset(own)) for limit, team, own in kinds]
        self.limits: dict[int, Decimal] = {}
        Budget.objects.all().delete()
        # What earlier examples have spent counts as well.
        self.spent_before = spent_by_all(Period.DAY)
        for which, amount in enumerate(limits):
            if amount is not None:
                self._put(which, amount)
        self._put(1, limits[1] or Decimal(3))

    @rule(which=st.integers(0, 8), more=_amounts)
    def raise_limit(self, which: int, more: Decimal) -> None:
        if which in self.limits:
            self._put(which, self.limits[which] + more)

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
    def no_budget_is_overshot(self) -> None:
        counted: defaultdict[str, Decimal] = defaultdict(Decimal)
        for session, cost in UsageEntry.objects.values_list("session", "cost"):
            counted[session] += cost
        held = dict(Reservation.objects.values_list("id", "amount"))
        for which, limit in self.limits.items():
            own = [self.sessions[one].pk for one in self.held[which].sessions]
            billed = sum((self.vendor.billed[one] for one in own), Decimal(0))
            covered = sum((counted[one] + held.get(one, Decimal(0)) for one in own), Decimal(0))
            assert billed <= covered <= limit, self.held[which].limit
        assert rebuild_totals(write=False) == []

    def teardown(self) -> None:
        self.runner.run(self._leave())

    def _put(self, which: int, amount: Decimal) -> None:
        held = self.held[which]
        if held.team is None:
            most = self.spent_before.quantize(Decimal("0.01"), ROUND_FLOOR) + amount
            put_instance_limit(self.operator, held.limit, amount=most)
        else:
            put_limit(access_team(self.alice, held.team.slug), held.limit, amount=amount)
        self.limits[which] = amount

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
