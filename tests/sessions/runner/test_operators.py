from __future__ import annotations

import asyncio
from datetime import timedelta

import psutil
import pytest
from django.utils import timezone

from opencode_web.lib.db import in_db
from sessions import runner
from sessions.actions.operators import drain_process, kill_turn, resume_process, stop_turn
from sessions.models import Part, Run, ServerProcess, Session
from sessions.processes import process_name
from sessions.runner import run_session
from sessions.runner.drain.forward_wake import ring_others
from teams.models import User
from tests.factories import make_user
from tests.sessions.factories import make_session, prompt, script
from tests.sessions.runner.drains import allow_bash, drain, is_runnable, until


def this_process() -> ServerProcess:
    now = timezone.now()
    return ServerProcess.objects.create(
        name=process_name(), kind="worker", host="local", started_at=now, seen_at=now
    )


async def test_an_operators_stop_says_whose_it_was(alice: User, session: Session) -> None:
    root = await in_db(make_user, "root@example.com")
    text = script([{"text": "half"}, {"delay_ms": 60_000}, {"text": "never"}])
    await in_db(prompt, alice, session, text)
    turn = asyncio.create_task(run_session(session.pk))
    await until(lambda: Part.objects.filter(session=session, data__text="half").exists())
    await in_db(stop_turn, session, root, reason="It burns money.")
    await asyncio.wait_for(turn, 25)
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome) == ("idle", "stopped")
    assert session.outcome_reason == {"reason": "stopped_by_operator", "values": {"name": "Root"}}
    run = await in_db(Run.objects.get, session=session)
    assert (run.stop_requested_at, run.stop_by_operator) == (None, False)


async def test_killing_ends_every_process_of_a_turn(alice: User, session: Session) -> None:
    root = await in_db(make_user, "root@example.com")
    await in_db(allow_bash, session)
    command = "trap '' TERM; (setsid sleep 4721 &) ; sleep 4722"
    await in_db(prompt, alice, session, script([{"tool": "bash", "input": {"command": command}}]))
    turn = asyncio.create_task(run_session(session.pk))

    def sleepers() -> list[str]:
        lines = [" ".join(p.info["cmdline"] or ()) for p in psutil.process_iter(["cmdline"])]
        return [line for line in lines if line in ("sleep 4721", "sleep 4722")]

    await until(lambda: len(sleepers()) == 2)
    await in_db(kill_turn, session, root, reason="It does not end.")
    await asyncio.wait_for(turn, 25)
    assert sleepers() == []
    await in_db(session.refresh_from_db)
    assert session.outcome_reason == {"reason": "stopped_by_operator", "values": {"name": "Root"}}


async def test_a_worker_that_drains_takes_up_no_session_and_ends_what_it_has(
    alice: User, session: Session
) -> None:
    root, process = await in_db(make_user, "root@example.com"), await in_db(this_process)
    other_session = await in_db(make_session, alice, session.project)
    await runner.listen()
    text = script([{"text": "one"}, {"delay_ms": 1_500}, {"text": " two"}])
    await in_db(prompt, alice, session, text)
    turn = asyncio.create_task(run_session(session.pk))
    await until(lambda: Part.objects.filter(session=session, data__text="one").exists())
    await in_db(drain_process, process, root, reason="A new kernel.")
    try:
        await until(runner.is_draining)
        await in_db(prompt, alice, other_session, script([{"text": "hello"}]))
        await drain(other_session)
        assert await in_db(is_runnable, other_session)
        await asyncio.wait_for(turn, 25)
        await in_db(session.refresh_from_db)
        assert session.outcome == "done"
        await in_db(resume_process, process, root, reason="It is done.")
        await until(lambda: not runner.is_draining())
    finally:
        runner.set_draining(False)
    assert (await drain(other_session)).outcome == "done"


@pytest.mark.django_db
def test_a_ring_goes_on_to_others_that_live(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[str] = []
    monkeypatch.setattr(
        "sessions.runner.drain.forward_wake.wake_again",
        lambda session_id, _: rung.append(session_id),
    )
    this_process()
    ring_others(session.pk)
    assert rung == []
    now = timezone.now()
    other = ServerProcess.objects.create(
        name="other:1", kind="worker", host="local", started_at=now, seen_at=now
    )
    ring_others(session.pk)
    assert rung == [session.pk]
    for change in (
        {"seen_at": now - timedelta(minutes=1)},
        {"drain_since": now},
        {"kind": "web"},
        {"host": "elsewhere"},
    ):
        ServerProcess.objects.filter(pk="other:1").update(**change)
        ring_others(session.pk)
        other.save()
    ring_others("ses_none")
    assert rung == [session.pk]
