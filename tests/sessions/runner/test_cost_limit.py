from __future__ import annotations

from decimal import Decimal

import pytest

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Forbidden, Invalid
from sessions.actions.permissions import reply_permission
from sessions.config.cost_limit import find_overrun
from sessions.config.effective import project_limits
from sessions.events.messages import Tokens
from sessions.events.types import SessionUsed
from sessions.models import PermissionRequest, Project, Session, SessionInput
from sessions.runner.drain import coordinator
from teams.models import Team, User
from tests.sessions.factories import make_session, prompt, script, session_access
from tests.sessions.runner.drains import drain, is_runnable, parts_of
from tests.sessions.story import write


@pytest.fixture(autouse=True)
def limit(project: Project) -> None:
    project.config = {"limits": {"session_cost": "5.00"}}
    project.save()


def spend(session: Session, amount: str) -> None:
    write(session, SessionUsed(cost=Decimal(amount), tokens=Tokens()))


def pending(session: Session) -> PermissionRequest:
    return session.permissions.get(status="pending")


async def answer(user: User, session: Session, reply: str) -> None:
    access = await in_db(session_access, user, session)
    await in_db(reply_permission, access, await in_db(pending, session), reply=reply)


def test_the_lower_of_two_limits_counts(project: Project) -> None:
    project.team.config = {"limits": {"session_cost": 0.1, "permission_timeout_s": 60}}
    limits = project_limits(project)
    assert limits.session_cost == Decimal("0.1")
    assert limits.permission_timeout_s == 60
    project.team.config = {"limits": {"session_cost": "7"}}
    assert project_limits(project).session_cost == Decimal("5.00")


async def test_at_its_limit_a_session_is_suspended_and_goes_on_with_as_much_again(
    alice: User, session: Session
) -> None:
    await in_db(spend, session, "5.0200000001")
    await in_db(prompt, alice, session, script([{"text": "first"}]))
    await drain(session)
    assert (session.state, session.waits_for) == ("waiting", "budget")
    assert not coordinator._drains
    assert not await in_db(is_runnable, session)
    request = await in_db(pending, session)
    assert (request.permission, request.call_id) == ("budget", "")
    assert request.metadata == {"spent": "5.0200000001", "limit": "5.00", "amount": "5.00"}
    # A ring that comes too early asks nothing twice.
    seq = session.seq
    await drain(session)
    assert session.seq == seq

    await answer(alice, session, "once")
    assert await in_db(is_runnable, session)
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "done")
    assert [part["text"] for part in await in_db(parts_of, session, "text")] == ["first"]

    # Another five are allowed, and not one cent more.
    await in_db(spend, session, "4.9799999999")
    await in_db(prompt, alice, session, script([{"text": "second"}]))
    await drain(session)
    assert session.waits_for == "budget"
    assert (await in_db(pending, session)).metadata["limit"] == "10.00"


async def test_below_the_limit_nobody_is_asked(alice: User, session: Session) -> None:
    await in_db(spend, session, "4.9999999999")
    await in_db(prompt, alice, session, script([{"text": "x"}]))
    await drain(session)
    assert session.outcome == "done"
    assert not await in_db(session.permissions.exists)


async def test_a_refusal_ends_the_turn_and_holds_what_waits(
    alice: User, bob: User, session: Session
) -> None:
    await in_db(spend, session, "6")
    await in_db(prompt, alice, session, script([{"text": "x"}]))
    await drain(session)
    steer = await in_db(prompt, alice, session, "and this", delivery="steer")
    await drain(session)
    await answer(bob, session, "reject")
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "stopped")
    assert session.outcome_reason == {"reason": "rejected", "values": {"name": "Bob"}}
    await in_db(steer.refresh_from_db)
    assert steer.status == SessionInput.Status.ADMITTED
    assert not await in_db(is_runnable, session)


async def test_only_admins_and_owners_allow_more(alice: User, bob: User, session: Session) -> None:
    await in_db(spend, session, "6")
    await in_db(prompt, bob, session, script([{"text": "x"}]))
    await drain(session)
    with pytest.raises(Forbidden, match="admin or owner"):
        await answer(bob, session, "once")
    with pytest.raises(Invalid):
        await answer(alice, session, "always")
    assert (await in_db(pending, session)).status == "pending"


async def test_the_whole_tree_counts_and_one_answer_serves_all_who_wait(
    alice: User, project: Project, session: Session
) -> None:
    child, other = [await in_db(make_session, alice, project, parent=session) for _ in range(2)]
    await in_db(spend, session, "3")
    await in_db(spend, child, "2.5")
    for one in (child, other):
        await in_db(prompt, alice, one, script([{"text": "x"}]))
        await drain(one)
        assert one.waits_for == "budget"
    await answer(alice, child, "once")
    await drain(other)
    assert other.outcome == "done"
    assert (await in_db(other.permissions.get)).status == "once"
    await drain(child)
    assert child.outcome == "done"
    # Two answers to one overrun would have allowed ten more.
    await in_db(spend, session, "5")
    assert (await in_db(find_overrun, session)).limit == Decimal("10.00")


async def test_more_cost_needs_a_second_person_where_budgets_do(
    alice: User, adam: User, session: Session
) -> None:
    await in_db(Team.objects.update, needs_approval=["budgets"])
    await in_db(spend, session, "5.01")
    await in_db(prompt, alice, session, script([{"text": "first"}]))
    await drain(session)
    with pytest.raises(Forbidden, match="You have prompted this session"):
        await answer(alice, session, "once")
    await answer(adam, session, "once")
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "done")
