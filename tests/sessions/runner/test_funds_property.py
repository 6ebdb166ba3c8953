from __future__ import annotations

import asyncio
import itertools
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
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
# The provider knows it as "big".
BIG = ModelRef("acme", "n")
PARTS = ("input", "output", "cache_read", "cache_write")
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "15"))
# Whose a budget is, for how long, and whether it is soft.
Key = tuple[str, Period, bool]
_numbers = itertools.count()
_prices = st.tuples(*[st.decimals("0", "40", places=2)] * 4)
_amounts = st.decimals("0", "6", places=2)
# Whose the budgets of the machine are: the server's, each team's, each project's, and people's.
WHOSE = ("instance", "team", "other", "first", "second", "each", "member", "service", "model")
_budgets = st.dictionaries(
    st.tuples(st.sampled_from(WHOSE), st.sampled_from(Period), st.booleans()), _amounts, max_size=12
)
# A session of each person, then a tree of sub-agents: 5 and 6 below 0, 7 below 5, 8 below 1.
_which = st.integers(0, 8)


def team_with_prices(owner: User, cost: Cost, *, output: int, name: str = "Acme") -> Team:
    """A team whose models have these prices."""
    team = make_team(owner, name=name)
    row = ProviderConfig.objects.create(
        team=team, provider_id="acme", kind=ProviderKind.OPENAI, name="Acme"
    )
    put_key(row, "k" * 20, actor=owner)
    tiers = [{**_described(one.price), "tier": {"size": one.above_tokens}} for one in cost.tiers]
    limit = {"context": 1_000_000, "output": output}
    model = {"cost": {**_described(cost.base), "tiers": tiers}, "limit": limit}
    team.config = {"provider": {"acme": {"models": {"m": model, "n": {**model, "id": "big"}}}}}
    team.save()
    return team


def _described(price: Price) -> dict[str, Any]:
    return {name: float(getattr(price, name)) for name in PARTS}


def ask(user: User, session: Session, text: str = "Go.", model: ModelRef = MODEL) -> None:
    draft = PromptDraft(parts=[{"type": "text", "text": text}], model=model)
    admit_prompt(session_access(user, session), draft)


class Spending(RuleBasedStateMachine):
    """Two teams, two people, a service account, trees of sub-agents, budgets of every scope and
    period, hard and soft, and all that can become of a call.
    """

    runner: asyncio.Runner
    folder: Path
    monkeypatch: pytest.MonkeyPatch

    @initialize(
        base=_prices,
        long=_prices,
        above=st.integers(1_000, 60_000),
        output=st.integers(0, 20_000),
        budgets=_budgets,
    )
    def begin(self, base: Any, long: Any, above: int, output: int, budgets: Any) -> None:
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
        self.people = (alice, bob, alice, robot, alice, alice, alice, alice, bob)
        of_project = (first, first, second, second, third)
        self.sessions = [
            make_session(person, project)
            for person, project in zip(self.people, of_project, strict=False)
        ]
        for which, above in ((5, 0), (6, 0), (7, 5), (8, 1)):
            parent = self.sessions[above]
            self.sessions.append(make_session(self.people[which], first, parent=parent))
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.left_behind: list[asyncio.Task[None]] = []
        self.projects = {"first": first, "second": second}
        self.on_big = {1, 4, 6}
        Budget.objects.all().delete()
        # What earlier examples have spent counts as well.
        self.spent_before = {period: spent_by_all(period) for period in Period}
        self.limits: dict[Key, Decimal] = {}
        # With it every team has budgets, and it must stop nothing.
        self._put(("instance", Period.MONTH, True), Decimal(0))
        for key, amount in budgets.items():
            self._put(key, amount)

    @rule(data=st.data(), more=_amounts)
    def raise_limit(self, data: st.DataObject, more: Decimal) -> None:
        key = data.draw(st.sampled_from(list(self.limits)))
        self._put(key, self.limits[key] + more)

    @rule(which=_which, writes=st.integers(0, 30_000), text=st.text(max_size=2_000))
    def work(self, which: int, writes: int, text: str) -> None:
        """Ask for something, or have what waits looked at again."""
        session = self.sessions[which]
        session.refresh_from_db()
        if session.pk in self.tasks:
            return
        if session.state == "idle":
            try:
                model = BIG if which in self.on_big else MODEL
                ask(self.people[which], session, f"Go. {text}", model)
            except BudgetReached:  # nothing is left, or there was nothing from the beginning
                assert self._is_held(which)
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
    def no_hard_budget_is_overshot(self) -> None:
        counted: defaultdict[str, Decimal] = defaultdict(Decimal)
        for session, cost in UsageEntry.objects.values_list("session", "cost"):
            counted[session] += cost
        held = dict(Reservation.objects.values_list("id", "amount"))
        for key, limit in self.limits.items():
            for group in self._groups(key):
                own = [self.sessions[one].pk for one in group]
                billed = sum((self.vendor.billed[one] for one in own), Decimal(0))
                covered = sum((counted[one] + held.get(one, Decimal(0)) for one in own), Decimal(0))
                assert billed <= covered, key
                _whose, _period, is_soft = key
                assert is_soft or covered <= limit, key
        assert rebuild_totals(write=False) == []

    @invariant()
    def only_hard_budgets_stop_anything(self) -> None:
        free = [row.pk for which, row in enumerate(self.sessions) if not self._is_held(which)]
        assert not Session.objects.filter(pk__in=free, waits_for="funds").exists()

    def teardown(self) -> None:
        self.runner.run(self._leave())

    def _put(self, key: Key, amount: Decimal) -> None:
        whose, period, is_soft = key
        if whose == "instance":
            limit = Limit(Scope.INSTANCE, period, is_soft)
            before = self.spent_before[period].quantize(Decimal("0.01"), ROUND_FLOOR)
            put_instance_limit(self.operator, limit, amount=before + amount)
        else:
            scope, more = Scope.TEAM, dict[str, Any]()
            if whose in self.projects:
                scope, more = Scope.PROJECT, {"project": self.projects[whose].pk}
            elif whose == "member":
                scope, more = Scope.MEMBER, {"user_id": self.alice.pk}
            elif whose == "model":
                scope, more = Scope.MODEL, {"model": "acme/b?g"}
            elif whose != "team" and whose != "other":
                scope = Scope(whose)
            team = self.teams[whose == "other"]
            limit = Limit(scope, period, is_soft, **more)
            put_limit(access_team(self.alice, team.slug), limit, amount=amount)
        self.limits[key] = amount

    def _groups(self, key: Key) -> list[set[int]]:
        """Returns: the sessions that a budget counts together, for each of whom it holds."""
        whose, *kind = key
        alice, bob, robot = {0, 2, 5, 6, 7}, {1, 8}, {3}
        if whose == "each":
            # What people have of their own takes its place.
            own = [
                people
                for special, people in (("member", alice), ("service", robot))
                if (special, *kind) not in self.limits
            ]
            return [bob, *own]
        groups = {
            "instance": {*range(9)},
            "team": alice | bob | robot,
            "other": {4},
            "first": {0, 1, 5, 6, 7, 8},
            "second": {2, 3},
            "member": alice,
            "service": robot,
            "model": (alice | bob | robot) & self.on_big,
        }
        return [groups[whose]]

    def _is_held(self, which: int) -> bool:
        """Whether a hard budget holds for the calls of a session."""
        hard = [key for key in self.limits if not key[2]]
        return any(which in group for key in hard for group in self._groups(key))

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


@pytest.mark.deep
def test_spent_never_exceeds_a_limit(
    transactional_db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with runner_that_ends() as runner:
        Spending.runner, Spending.folder, Spending.monkeypatch = runner, tmp_path, monkeypatch
        run_state_machine_as_test(
            Spending, settings=hypothesis_settings(max_examples=EXAMPLES, stateful_step_count=20)
        )
