from __future__ import annotations

import asyncio
import threading

import pytest
from django.db import connections, transaction

from opencode_web.lib.db import in_db
from sessions.actions.control import resume_session
from sessions.actions.inbox import cancel_input
from sessions.actions.permissions import reply_permission
from sessions.events.store import LeaseLost, lock_session
from sessions.events.types import SessionUpdated
from sessions.models import Part, PermissionRequest, Run, Session, SessionInput
from sessions.runner import run_session
from sessions.runner.calls import tool_calls
from sessions.runner.drain import coordinator
from sessions.runner.drain.advance import advance, settle_cancelled
from sessions.runner.log.lease import Lease, acquire_lease, runnable_sessions
from sessions.runner.log.steps import ProviderTurn
from sessions.runner.log.text_writer import append_events
from teams.models import Membership, User
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.runner.drains import allow_bash, stop, until


async def test_a_transaction_under_way_cannot_write_behind_a_stop(
    alice: User, session: Session
) -> None:
    await in_db(prompt, alice, session, script([{"text": "x"}]))
    lease = await in_db(acquire_lease, session.pk)
    await in_db(advance, lease)
    await stop(alice, session)
    assert await in_db(settle_cancelled, lease)
    with pytest.raises(LeaseLost):
        await in_db(append_events, lease, [SessionUpdated(title="late")])
    with pytest.raises(LeaseLost):
        await in_db(advance, lease)


async def test_a_late_stop_signal_does_not_lose_the_next_prompt(
    alice: User, session: Session
) -> None:
    await in_db(prompt, alice, session, script([{"delay_ms": 300}, {"text": "answered"}]))
    drain = asyncio.create_task(run_session(session.pk))
    await until(lambda: session.pk in coordinator._drains)
    coordinator._drains[session.pk].cancel()  # what a signal does, with no request in the row
    await drain
    run = await in_db(Run.objects.get, session=session)
    assert run.lease_until is None
    await run_session(session.pk)
    assert await in_db(Part.objects.filter(session=session, data__text="answered").exists)


async def test_a_prompt_that_came_after_the_stop_gets_its_turn(
    alice: User, bob: User, session: Session
) -> None:
    await in_db(prompt, alice, session, script([{"text": "held"}]))
    await in_db(prompt, alice, session, script([{"text": "before"}]), delivery="queue")
    await stop(bob, session)
    await in_db(prompt, alice, session, script([{"text": "after"}]), delivery="queue")
    await run_session(session.pk)
    assert [pk for pk, _ in await in_db(runnable_sessions)] == [session.pk]
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome) == ("idle", "done")
    assert await in_db(Part.objects.filter(session=session, data__text="after").exists)


async def test_a_stop_holds_the_prompts_that_wait_until_they_are_sent(
    alice: User, session: Session
) -> None:
    await in_db(prompt, alice, session, script([{"delay_ms": 60_000}, {"text": "never"}]))
    drain = asyncio.create_task(run_session(session.pk))
    await until(lambda: Part.objects.filter(session=session, type="step-start").exists())
    await in_db(prompt, alice, session, script([{"text": "held"}]), delivery="queue")
    await stop(alice, session)
    await drain
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome) == ("idle", "stopped")
    assert await in_db(SessionInput.objects.filter(status="admitted").count) == 1
    assert await in_db(runnable_sessions) == []

    access = await in_db(session_access, alice, session)
    assert await in_db(resume_session, access)
    await run_session(session.pk)
    assert await in_db(Part.objects.filter(session=session, data__text="held").exists)
    assert not await in_db(resume_session, access)


async def test_a_failed_prompt_does_not_hold_up_the_next_one(
    alice: User, bob: User, session: Session
) -> None:
    await in_db(prompt, bob, session, script([{"text": "x"}]))
    await in_db(prompt, alice, session, script([{"text": "hers"}]), delivery="queue")
    await in_db(Membership.objects.filter(user=bob).delete)
    await run_session(session.pk)
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert session.outcome == "done"
    assert await in_db(Part.objects.filter(session=session, data__text="hers").exists)


async def test_a_suspended_call_of_a_removed_member_does_not_run(
    alice: User, bob: User, session: Session
) -> None:
    await in_db(prompt, bob, session, script([{"tool": "bash", "input": {"command": "true"}}]))
    await run_session(session.pk)
    await in_db(Membership.objects.filter(user=bob).delete)
    request = await in_db(PermissionRequest.objects.get, session=session)
    access = await in_db(session_access, alice, session)
    await in_db(reply_permission, access, request, reply="once")
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome) == ("idle", "failed")
    part = await in_db(Part.objects.get, session=session, type="tool")
    assert part.data["state"]["status"] == "error"


async def test_no_call_goes_on_behind_the_end_of_its_step(
    alice: User, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    await in_db(allow_bash, session)
    calls = [
        {"tool": "bash", "input": {"command": "sleep 2; touch late"}},
        {"tool": "list", "input": {}},
    ]
    real = tool_calls.execute

    async def execute(tool, arguments, context):
        if tool.name == "list":
            await asyncio.sleep(0.5)
            raise RuntimeError("our own fault")
        return await real(tool, arguments, context)

    monkeypatch.setattr(tool_calls, "execute", execute)
    await in_db(prompt, alice, session, script(calls, [{"text": "never"}]))
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome) == ("idle", "failed")
    seq = session.seq
    await asyncio.sleep(2.2)
    await in_db(session.refresh_from_db)
    assert session.seq == seq
    assert not await in_db(Part.objects.filter(data__state__status="running").exists)


def test_who_waited_for_the_lock_sees_the_newest_lease(session: Session) -> None:
    Run.objects.filter(session=session).update(token=1)
    seen: list[object] = []

    def wait_and_look() -> None:
        try:
            with transaction.atomic():
                lock_session(session.pk, token=1)
                seen.append("passed")
        except LeaseLost:
            seen.append("lost")
        finally:
            connections.close_all()

    with transaction.atomic():
        lock_session(session.pk)
        thread = threading.Thread(target=wait_and_look)
        thread.start()
        thread.join(0.5)
        assert thread.is_alive()
        Run.objects.filter(session=session).update(token=99)
    thread.join(25)
    assert seen == ["lost"]


def busy_with_nothing_to_do(alice: User, session: Session) -> Lease:
    """Its prompt was taken back, so the next look ends the drain."""
    row = prompt(alice, session, "taken back")
    cancel_input(session_access(alice, session), row.pk)
    lease = acquire_lease(session.pk)
    assert lease is not None
    return lease


def test_a_steer_against_idle_waits_for_the_end_and_rings_again(
    alice: User, session: Session
) -> None:
    lease = busy_with_nothing_to_do(alice, session)

    def steer() -> None:
        try:
            prompt(alice, session, "steer")
        finally:
            connections.close_all()

    with transaction.atomic():
        assert advance(lease) is None
        thread = threading.Thread(target=steer)
        thread.start()
        thread.join(0.5)
        assert thread.is_alive()
    thread.join(25)
    session.refresh_from_db()
    assert session.state == "busy"
    assert [pk for pk, _ in runnable_sessions()] == [session.pk]


def test_a_drain_that_would_end_against_a_steer_takes_it(alice: User, session: Session) -> None:
    lease = busy_with_nothing_to_do(alice, session)
    decided: list[object] = []

    def end() -> None:
        try:
            decided.append(advance(lease))
        finally:
            connections.close_all()

    with transaction.atomic():
        row = prompt(alice, session, "steer")
        thread = threading.Thread(target=end)
        thread.start()
        thread.join(0.5)
        assert thread.is_alive()
    thread.join(25)
    assert isinstance(decided[0], ProviderTurn)
    assert SessionInput.objects.get(pk=row.pk).status == "promoted"
