from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connections, transaction
from django.utils import timezone

from opencode_web.lib.db import in_db
from providers.funding import fund
from providers.kinds import ProviderKind
from providers.llm.errors import RateLimited
from providers.llm.events import Failed
from sessions.actions.compaction import request_compaction
from sessions.models import PermissionRequest, Project, Run, Session
from sessions.runner import run_session
from sessions.runner.drain.advance import advance
from sessions.runner.log.lease import acquire_lease
from sessions.wire import status_to_wire
from teams.access import access_team
from teams.actions.budgets import change_budgets, reserve, settle, settle_lost_calls
from teams.budgets import BudgetReached, load_standings, next_month
from teams.models import Budget, Reservation, Team, UsageEntry, User
from tests.factories import make_usage
from tests.providers.requests import make_model, make_request
from tests.races import race
from tests.sessions.factories import make_session, prompt, script, session_access
from tests.sessions.runner.drains import drain, is_runnable, parts_of, stop
from tests.sessions.runner.test_retries import DONE, make_due
from tests.sessions.runner.test_retries import play as play
from tests.sessions.runner.test_subagents import task, work

DOLLAR = {"input": 10, "output": 10_000}
LOOK = {"tool": "list", "input": {"path": "."}}


@pytest.fixture(autouse=True)
def priced(project: Project) -> None:
    project.config = {
        "provider": {"demo": {"models": {"inline": {"cost": {"input": 0, "output": 100}}}}}
    }
    project.save()


def budget(user: User, **amounts: Any) -> None:
    given = {"team": None, "each": None, "members": {}, **amounts}
    given = {name: Decimal(one) if isinstance(one, str) else one for name, one in given.items()}
    change_budgets(access_team(user, "acme"), **given)


def costly(*texts: str) -> str:
    """Each answer but the last looks around and costs a dollar."""
    steps = [{"events": [LOOK], "usage": DOLLAR} for _ in texts[:-1]]
    last = {"events": [{"text": texts[-1]}], "usage": DOLLAR}
    return script(turns=[[*steps, last]] * 9)


def said(session: Session) -> list[str]:
    return [part["text"] for part in parts_of(session, "text")]


async def test_a_turn_that_reaches_the_budget_waits_between_two_answers_and_goes_on(
    alice: User, bob: User, session: Session
) -> None:
    await in_db(budget, alice, team="2")
    await in_db(prompt, bob, session, costly("", "", "done"))
    await drain(session)
    assert (session.state, session.waits_for) == ("busy", "funds")
    assert session.cost == 2
    assert session.wake_at == next_month()
    assert session.outcome_reason["reason"] == "team_budget_reached"
    assert session.outcome_detail.startswith("Team budget reached: $2.00 of $2.00 are spent")
    run = await in_db(Run.objects.get, session=session)
    assert run.lease_until is None
    assert not await in_db(is_runnable, session)
    assert not await in_db(Reservation.objects.exists)
    assert not await in_db(PermissionRequest.objects.exists)
    status = await in_db(status_to_wire, session)
    assert status["type"] == "retry"
    assert status["message"] == session.outcome_detail

    await in_db(budget, alice, team="5")
    # Without any ring: the beat finds it.
    assert await in_db(is_runnable, session)
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "done")
    assert await in_db(said, session) == ["done"]
    assert session.cost == 3


async def test_a_prompt_whose_budget_is_spent_by_others_is_kept_until_the_month_turns(
    alice: User, team: Team, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    await in_db(budget, alice, team="1")
    await in_db(prompt, alice, session, costly("done"))
    await in_db(make_usage, team, alice, cost=Decimal(1))
    await drain(session)
    assert (session.waits_for, session.cost) == ("funds", 0)
    turn = next_month() + timedelta(seconds=1)
    monkeypatch.setattr(timezone, "now", lambda: turn)
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "done")
    assert await in_db(said, session) == ["done"]


async def test_the_beat_rings_when_the_month_is_over(alice: User, session: Session) -> None:
    await in_db(prompt, alice, session, costly("done"))
    await in_db(budget, alice, team="0")
    await drain(session)
    assert not await in_db(is_runnable, session)
    past = timezone.now() - timedelta(seconds=1)
    await in_db(Session.objects.filter(pk=session.pk).update, wake_at=past)
    assert await in_db(is_runnable, session)
    # A ring that comes too early changes nothing for good.
    await drain(session)
    assert (session.waits_for, session.wake_at) == ("funds", next_month())


async def test_a_member_has_the_budget_of_all_unless_they_have_their_own(
    alice: User, bob: User, team: Team, project: Project
) -> None:
    await in_db(budget, alice, each="1", members={alice.pk: Decimal(9)})
    of_bob = await in_db(make_session, bob, project)
    await in_db(prompt, bob, of_bob, costly("x"))
    for one in (alice, bob):
        await in_db(make_usage, team, one, cost=Decimal(2))
    await drain(of_bob)
    assert of_bob.waits_for == "funds"
    assert of_bob.outcome_reason["reason"] == "member_budget_reached"
    # The one who prompts counts, not whose session it is.
    of_alice = await in_db(make_session, bob, project)
    await in_db(prompt, alice, of_alice, costly("x"))
    await drain(of_alice)
    assert of_alice.outcome == "done"


async def test_what_is_left_has_to_be_enough_for_the_next_answer(
    alice: User, team: Team, session: Session
) -> None:
    await in_db(budget, alice, team="1")
    await in_db(make_usage, team, alice, cost=Decimal("0.9999999"))
    await in_db(prompt, alice, session, costly("x"))
    await drain(session)
    assert session.waits_for == "funds"
    assert session.outcome_reason["reason"] == "team_budget_short"


async def test_a_turn_that_waits_can_be_stopped(alice: User, session: Session) -> None:
    await in_db(prompt, alice, session, costly("x"))
    await in_db(budget, alice, team="0")
    await drain(session)
    await stop(alice, session)
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "stopped")
    assert not await in_db(is_runnable, session)


async def test_a_sub_agent_waits_and_its_session_gets_its_report(
    alice: User, session: Session
) -> None:
    await in_db(budget, alice, team="0.50")
    inner = costly("found")
    step = {"events": [task(inner)], "usage": DOLLAR}
    end = {"events": [{"text": "end"}], "usage": {"input": 1}}
    await in_db(prompt, alice, session, script(turns=[[step, end]] * 9))
    await work(session)
    child = await in_db(session.children.get)
    assert (session.waits_for, child.waits_for) == ("children", "funds")
    await in_db(budget, alice, team="5")
    await work(session)
    assert (session.state, session.outcome) == ("idle", "done")
    assert await in_db(said, child) == ["found"]


async def test_a_compaction_is_paid_for_as_well(alice: User, session: Session) -> None:
    await in_db(prompt, alice, session, script([{"text": "a"}]))
    await drain(session)
    await in_db(lambda: request_compaction(session_access(alice, session)))
    await in_db(budget, alice, team="0")
    await drain(session)
    assert session.waits_for == "funds"
    await in_db(budget, alice, team="5")
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "done")
    assert await in_db(session.compactions.exists)


async def test_a_try_that_nobody_pays_for_is_made_when_somebody_does(
    alice: User, session: Session, play: Any
) -> None:
    refused = Failed(RateLimited("Slow down.", retry_after_s=20), is_free=True)
    provider = play([refused], DONE)
    await in_db(budget, alice, team="1")
    await in_db(prompt, alice, session, "go")
    await drain(session)
    assert session.waits_for == "retry"
    # While it waits for its time nothing is set apart.
    assert not await in_db(Reservation.objects.exists)
    await in_db(budget, alice, team="0")
    await in_db(make_due, session)
    await drain(session)
    assert (session.waits_for, len(provider.requests)) == ("funds", 1)
    await in_db(budget, alice, team="1")
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "done")
    assert await in_db(said, session) == ["It works."]
    assert await in_db(session.messages.filter(role="assistant").count) == 1


async def test_an_answer_under_way_keeps_its_share_from_others(
    alice: User, team: Team, session: Session, project: Project
) -> None:
    await in_db(budget, alice, team="0.50")
    await in_db(prompt, alice, session, costly("x"))
    lease = await in_db(acquire_lease, session.pk)
    await in_db(advance, lease)
    held = await in_db(Reservation.objects.get)
    # The longest answer would cost more: it is limited to what is there.
    assert (held.pk, held.amount) == (session.pk, Decimal("0.50"))
    other = await in_db(make_session, alice, project)
    await in_db(prompt, alice, other, costly("y"))
    await drain(other)
    assert other.waits_for == "funds"
    assert other.wake_at < timezone.now() + timedelta(seconds=30)
    assert other.outcome_reason["reason"] == "budget_held"

    # Its worker dies: however long that is ago, the provider may bill all of it.
    past = timezone.now() - timedelta(days=1)
    await in_db(Reservation.objects.update, created_at=past)
    await in_db(settle_lost_calls)
    assert await in_db(Reservation.objects.exists)
    await in_db(Run.objects.filter(session=session).update, lease_until=past)
    await drain(session)
    assert session.waits_for == "funds"
    assert not await in_db(Reservation.objects.exists)
    entry = await in_db(UsageEntry.objects.get)
    assert (entry.cost, entry.basis, entry.user_id) == (Decimal("0.50"), "bound", alice.pk)
    assert (entry.provider, entry.model) == ("demo", "inline")


async def test_two_calls_at_the_same_moment_never_both_get_the_last_of_a_budget(
    alice: User, team: Team
) -> None:
    await in_db(budget, alice, team="1")
    await in_db(team.refresh_from_db)
    results: list[str] = []
    barrier = threading.Barrier(6)

    def call(number: int) -> None:
        try:
            barrier.wait(20)
            with transaction.atomic():
                wanted = Reservation(
                    id=f"ses_{number}", team=team, user=alice, amount=Decimal("0.40")
                )
                reserve(wanted, least=Decimal("0.40"))
            results.append("reserved")
        except BudgetReached:
            results.append("refused")
        finally:
            connections.close_all()

    threads = [threading.Thread(target=call, args=(number,)) for number in range(6)]
    for one in threads:
        one.start()
    await asyncio.to_thread(lambda: [one.join(25) for one in threads])
    assert sorted(results) == ["refused"] * 4 + ["reserved"] * 2


async def test_a_call_beside_the_removal_of_all_budgets_leaves_no_reservation(
    alice: User, team: Team
) -> None:
    await in_db(budget, alice, team="1")
    await in_db(team.refresh_from_db)

    def call() -> None:
        with transaction.atomic():
            wanted = Reservation(id="ses_1", team=team, user=alice, amount=Decimal("0.40"))
            assert reserve(wanted, least=Decimal("0.40")).amount == Decimal("0.40")

    faults = await asyncio.to_thread(race, lambda: budget(alice), call)
    assert faults == [None, None]
    assert not await in_db(Reservation.objects.exists)


async def test_sessions_drained_at_once_spend_no_more_than_the_budget(
    alice: User, project: Project, team: Team
) -> None:
    await in_db(budget, alice, team="1")
    sessions = [await in_db(make_session, alice, project) for _ in range(5)]
    for one in sessions:
        await in_db(prompt, alice, one, costly("x"))
    await asyncio.gather(*(run_session(one.pk) for one in sessions))
    for one in sessions:
        await in_db(one.refresh_from_db)
    spent = sum(one.cost for one in sessions)
    waiting = [one for one in sessions if one.waits_for == "funds"]
    assert (spent, len(waiting)) == (1, 4)
    (standing,) = await in_db(_standings, team, alice)
    assert standing.spent == spent
    assert standing.reserved == 0


def _standings(team: Team, user: User) -> Any:
    team.refresh_from_db()
    return load_standings(team, user.pk)


async def test_what_was_reserved_is_settled_with_what_was_spent(
    alice: User, team: Team, session: Session
) -> None:
    await in_db(budget, alice, team="9", each="8")
    await in_db(prompt, alice, session, costly("", "x"))
    await drain(session)
    assert session.outcome == "done"
    of_team, of_alice = await in_db(_standings, team, alice)
    assert (of_team.spent, of_team.reserved, of_team.left) == (2, 0, 7)
    assert (of_alice.limit, of_alice.spent, of_alice.percent) == (8, 2, 25)


def test_last_month_is_over(alice: User, team: Team) -> None:
    budget(alice, team="5")
    last = datetime(2020, 1, 31, 23, 59, tzinfo=UTC)
    make_usage(team, alice, cost=Decimal(4), time=last)
    make_usage(team, alice, cost=Decimal(1))
    (standing,) = _standings(team, alice)
    assert (standing.spent, standing.left, standing.percent) == (1, 4, 20)
    assert UsageEntry.objects.count() == 2


def test_without_a_budget_nothing_is_asked(
    alice: User, team: Team, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(0):
        request = make_request(make_model(ProviderKind.OPENAI))
        assert fund(request, team, call_id="ses_1", user_id=alice.pk).bound is None
        settle(team, "ses_1")
        assert load_standings(team, alice.pk) == []
    budget(alice, team="1")
    budget(alice)
    team.refresh_from_db()
    assert not team.has_budgets
    assert not Budget.objects.exists()
