from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import kombu.exceptions
import pytest
from django.db import OperationalError, transaction
from django.utils import timezone

from opencode_web.lib.breaker import Breaker
from opencode_web.lib.db import in_db
from sessions import wake
from sessions.actions.permissions import reply_permission
from sessions.events.store import LeaseLost, append, lock_session
from sessions.events.types import SessionUpdated
from sessions.models import Event, Message, Part, PermissionRequest, Run, Session
from sessions.runner import run_session
from sessions.runner.drain import coordinator
from sessions.runner.drain.advance import advance
from sessions.runner.log.lease import Lease, acquire_lease, renew_lease, runnable_sessions
from sessions.runner.log.text_writer import append_events
from teams.models import User
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.runner.drains import allow_bash, until


def expire(session: Session) -> None:
    past = timezone.now() - timedelta(seconds=1)
    assert Run.objects.filter(session=session).update(lease_until=past) == 1


def runnable_ids() -> list[str]:
    return [session_id for session_id, _ in runnable_sessions()]


async def abandon(task: asyncio.Task[None], session: Session, monkeypatch) -> None:
    """Let a drain die as a killed process would: nothing is settled, the lease runs out."""

    async def nothing(lease: Lease) -> str:
        return "killed"

    monkeypatch.setattr(coordinator, "_after_cancel", nothing)
    coordinator._drains[session.pk].cancel()
    await task
    monkeypatch.undo()
    await in_db(expire, session)


async def test_two_workers_take_one_lease(session: Session) -> None:
    leases = await asyncio.gather(*(in_db(acquire_lease, session.pk) for _ in range(4)))
    assert len([lease for lease in leases if lease is not None]) == 1


async def test_a_zombie_owner_cannot_write(session: Session) -> None:
    zombie = await in_db(acquire_lease, session.pk)
    await in_db(expire, session)
    heir = await in_db(acquire_lease, session.pk)
    assert heir.token == zombie.token + 1
    assert heir.taken_over
    with pytest.raises(LeaseLost):
        await in_db(append_events, zombie, [SessionUpdated(title="from the dead")])
    with pytest.raises(LeaseLost):
        await in_db(advance, zombie)
    assert await in_db(renew_lease, zombie) is None
    await in_db(append_events, heir, [SessionUpdated(title="from the living")])
    await in_db(session.refresh_from_db)
    assert session.title == "from the living"


async def test_text_is_on_disk_within_half_a_second(alice: User, session: Session) -> None:
    steps = [{"text": "early"}, {"delay_ms": 1500}, {"text": " late"}]
    await in_db(prompt, alice, session, script(steps))
    drain = asyncio.create_task(run_session(session.pk))
    loop = asyncio.get_running_loop()
    await until(lambda: Part.objects.filter(session=session, type="text", data__text="").exists())
    opened = loop.time()
    await until(lambda: Part.objects.filter(session=session, data__text="early").exists())
    assert loop.time() - opened < 0.7
    await drain
    assert await in_db(Part.objects.filter(session=session, data__text="early late").exists)


async def test_nfr_01_a_turn_without_calls_is_tried_again_after_a_crash(
    alice: User, session: Session, monkeypatch
) -> None:
    steps = [{"text": "half"}, {"delay_ms": 900}, {"text": " whole"}]
    await in_db(prompt, alice, session, script(steps))
    task = asyncio.create_task(run_session(session.pk))
    await until(lambda: Part.objects.filter(session=session, data__text="half").exists())
    await abandon(task, session, monkeypatch)
    assert await in_db(runnable_ids) == [session.pk]

    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome) == ("idle", "done")
    first, second = await in_db(
        list, Message.objects.filter(session=session, role="assistant").order_by("seq")
    )
    assert first.data["error"]["data"]["interrupted"] is True
    partial = await in_db(Part.objects.get, message=first, type="text")
    assert partial.data["text"] == "half"
    assert partial.data["metadata"] == {"interrupted": True}
    whole = await in_db(Part.objects.get, message=second, type="text")
    assert whole.data["text"] == "half whole"


async def test_a_session_that_kills_its_workers_is_given_up(
    alice: User, session: Session, monkeypatch
) -> None:
    await in_db(prompt, alice, session, script([{"delay_ms": 60_000}, {"text": "never"}]))
    for _ in range(4):
        answers = await in_db(Message.objects.filter(session=session, role="assistant").count)
        task = asyncio.create_task(run_session(session.pk))
        await until(
            lambda n=answers: (
                (
                    Message.objects.filter(session=session, role="assistant").count() > n
                    and session.pk in coordinator._drains
                )
                or Session.objects.get(pk=session.pk).state == "idle"
            )
        )
        if task.done() or session.pk not in coordinator._drains:
            break
        await abandon(task, session, monkeypatch)
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome) == ("idle", "interrupted")


async def test_nfr_01_a_call_that_had_begun_is_not_repeated(
    alice: User, session: Session, monkeypatch
) -> None:

    await in_db(allow_bash, session)
    command = "echo ran >> count; sleep 30"
    await in_db(
        prompt,
        alice,
        session,
        script([{"tool": "bash", "input": {"command": command}}], [{"text": "I see"}]),
    )
    task = asyncio.create_task(run_session(session.pk))
    count = Path(session.project.directory) / "count"
    await until(lambda: count.exists() and count.read_text() == "ran\n")
    await abandon(task, session, monkeypatch)
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert session.outcome == "done"
    assert count.read_text() == "ran\n"
    part = await in_db(Part.objects.get, session=session, type="tool")
    assert part.data["state"]["status"] == "error"
    assert "may have had effects" in part.data["state"]["error"]


async def test_a_call_that_waits_shows_its_input_and_survives_the_worker(
    alice: User, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = {"tool": "bash", "input": {"command": "echo ran >> count"}}
    count = Path(session.project.directory) / "count"
    await in_db(prompt, alice, session, script([call], [{"text": "done"}]))
    await run_session(session.pk)
    request = await in_db(PermissionRequest.objects.get, session=session)
    asked, told = await in_db(_asked_events, session)
    state = asked.data["part"]["state"]
    assert told.data["id"] == request.pk
    assert (state["status"], state["input"]) == ("running", call["input"])
    assert state["time"]["start"] > 0

    # The worker dies between the answer and the effect: the call has done nothing, so it is run.
    access = await in_db(session_access, alice, session)
    await in_db(reply_permission, access, request, reply="once")
    lease = await in_db(acquire_lease, session.pk)
    assert lease is not None
    await in_db(expire, session)
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert session.outcome == "done"
    assert count.read_text() == "ran\n"


async def test_a_call_that_was_allowed_twice_is_not_repeated(
    alice: User, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It asks for the folder first and for the command then, so it has begun before its second ask.
    command = "echo ran >> count; cat /etc/hostname; sleep 30"
    call = {"tool": "bash", "input": {"command": command}}
    await in_db(prompt, alice, session, script([call], [{"text": "I see"}]))
    access = await in_db(session_access, alice, session)
    for permission in ("external_directory", "bash"):
        await run_session(session.pk)
        request = await in_db(PermissionRequest.objects.get, session=session, status="pending")
        assert request.permission == permission
        await in_db(reply_permission, access, request, reply="once")
    task = asyncio.create_task(run_session(session.pk))
    count = Path(session.project.directory) / "count"
    await until(lambda: count.exists() and count.read_text() == "ran\n")
    await abandon(task, session, monkeypatch)
    await run_session(session.pk)
    assert count.read_text() == "ran\n"
    part = await in_db(Part.objects.get, session=session, type="tool")
    assert "may have had effects" in part.data["state"]["error"]


def _asked_events(session: Session) -> list[Event]:
    """The request of a call, and the event before it."""
    asked = session.events.get(type="permission.asked")
    return list(session.events.filter(seq__in=(asked.seq - 1, asked.seq)).order_by("seq"))


def test_an_append_outside_the_lock_order_cannot_reuse_a_number(session: Session) -> None:
    with transaction.atomic():
        append(lock_session(session.pk), [SessionUpdated(title="one")])
    with transaction.atomic():
        append(lock_session(session.pk), [SessionUpdated(title="two")])
    assert list(session.events.order_by("seq").values_list("seq", flat=True)) == [1, 2, 3]


async def test_a_database_that_went_away_ends_the_drain_and_not_the_turn(
    alice: User, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    await in_db(prompt, alice, session, script([{"text": "whole"}]))

    async def lose(lease: Lease, *_: object, **__: object) -> None:
        raise OperationalError("the connection is closed")

    monkeypatch.setattr(coordinator, "drain", lose)
    await run_session(session.pk)
    monkeypatch.undo()
    await in_db(session.refresh_from_db)
    assert session.state == "busy"
    assert session.pk in await in_db(runnable_ids)
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome) == ("idle", "done")


def test_a_broker_that_is_away_loses_no_prompt(
    alice: User,
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    asked = []

    def refuse(*args: object, **more: object) -> None:
        asked.append(args)
        raise kombu.exceptions.OperationalError("connection refused")

    monkeypatch.setattr(wake, "_broker", Breaker(rest_s=60))
    monkeypatch.setattr(wake.current_app, "send_task", refuse)
    admitted = prompt(alice, session, "hello")
    assert admitted.status == "admitted"
    assert session.pk in runnable_ids()
    # Nobody else waits for it.
    prompt(alice, session, "and this")
    assert len(asked) == 1
    assert "wake.skipped task=sessions.run" in caplog.text
    # But for what is in the message and nowhere else.
    wake.wake_clone(session.project, credential="sealed")
    wake.wake_checkout(session.pk, session.project, credential="sealed")
    wake.wake_terminal("pty_1", session.project, environment="sealed")
    assert len(asked) == 4
    wake.wake_clone(session.project)
    assert len(asked) == 4
