from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from sessions.models import Message, Part, Run, Session, SessionInput
from sessions.runner import run_session
from sessions.runner.drain import coordinator
from sessions.runner.log.lease import runnable_sessions
from teams.models import User
from tests.sessions.factories import prompt, script
from tests.sessions.runner.drains import allow_bash, stop, until


@pytest.fixture(autouse=True)
def next_worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    def begin() -> None:
        coordinator._leaving = False

    yield begin
    begin()


@pytest.fixture
def bash_allowed(session: Session) -> None:
    allow_bash(session)


@asynccontextmanager
async def worker_ends_during(session: Session, when: Callable[[], Any], *, grace_s: float) -> Any:
    drain = asyncio.create_task(run_session(session.pk))
    await until(when)
    await coordinator._leave(grace_s)
    await drain
    yield
    coordinator._leaving = False


async def assert_handed_over(session: Session) -> None:
    run = await in_db(Run.objects.get, session=session)
    assert (run.owner, run.lease_until, run.recoveries) == ("", None, 0)
    await in_db(session.refresh_from_db)
    assert session.state == "busy"
    assert [pk for pk, _ in await in_db(runnable_sessions)] == [session.pk]


async def test_an_answer_that_is_cut_off_is_asked_for_again_without_an_error(
    alice: User, session: Session
) -> None:
    steps = [{"text": "half"}, {"delay_ms": 700}, {"text": " whole"}]
    await in_db(prompt, alice, session, script(steps))
    half = Part.objects.filter(session=session, data__text="half")
    async with worker_ends_during(session, half.exists, grace_s=0):
        await assert_handed_over(session)
        # What was there is still to be seen, until the next worker begins.
        assert await in_db(half.exists)

    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome) == ("idle", "done")
    answer = await in_db(Message.objects.get, session=session, role="assistant")
    assert "error" not in answer.data
    texts = await in_db(list, Part.objects.filter(message=answer, type="text"))
    assert [(part.data["text"], part.data.get("metadata")) for part in texts] == [
        ("half whole", None)
    ]
    assert (await in_db(Run.objects.get, session=session)).recoveries == 0


async def test_a_steer_goes_before_the_answer_that_was_cut_off(
    alice: User, session: Session
) -> None:
    await in_db(prompt, alice, session, script([{"text": "half"}, {"delay_ms": 60_000}]))
    half = Part.objects.filter(session=session, data__text="half")
    async with worker_ends_during(session, half.exists, grace_s=0):
        await in_db(prompt, alice, session, script([{"text": "steered"}]))

    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome) == ("idle", "done")
    assert await in_db(Part.objects.filter(session=session, data__text="steered").exists)
    assert not await in_db(half.exists)


async def test_an_answer_that_ends_within_the_grace_is_whole(alice: User, session: Session) -> None:
    await in_db(prompt, alice, session, script([{"text": "a"}, {"delay_ms": 500}, {"text": "b"}]))
    begun = Part.objects.filter(session=session, type="text")
    async with worker_ends_during(session, begun.exists, grace_s=5):
        await in_db(session.refresh_from_db)
        assert (session.state, session.outcome) == ("idle", "done")
        assert await in_db(Part.objects.filter(session=session, data__text="ab").exists)
        assert await in_db(runnable_sessions) == []


@pytest.mark.usefixtures("bash_allowed")
async def test_no_step_is_begun_once_the_worker_ends(alice: User, session: Session) -> None:
    call = {"tool": "bash", "input": {"command": "echo ran >> count"}}
    await in_db(
        prompt, alice, session, script([{"text": "a"}, {"delay_ms": 500}, call], [{"text": "b"}])
    )
    begun = Part.objects.filter(session=session, type="text")
    count = Path(session.project.directory) / "count"
    async with worker_ends_during(session, begun.exists, grace_s=5):
        await assert_handed_over(session)
        part = await in_db(Part.objects.get, session=session, type="tool")
        assert part.data["state"]["status"] == "pending"
        assert not count.exists()

    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert session.outcome == "done"
    assert count.read_text() == "ran\n"


@pytest.mark.usefixtures("bash_allowed")
async def test_a_command_that_outlasts_the_grace_is_cut_off_and_the_model_decides(
    alice: User, session: Session
) -> None:
    call = {"tool": "bash", "input": {"command": "echo ran | tee -a count; sleep 30"}}
    await in_db(prompt, alice, session, script([call], [{"text": "I see"}]))
    count = Path(session.project.directory) / "count"
    async with worker_ends_during(session, count.exists, grace_s=0.3):
        await assert_handed_over(session)

    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome) == ("idle", "done")
    assert count.read_text() == "ran\n"
    state = (await in_db(Part.objects.get, session=session, type="tool")).data["state"]
    assert state["status"] == "error"
    stopped = {"reason": "server_stopped", "values": {}}
    assert state["metadata"]["cause"] == {"reason": "doubtful", "values": {"reason": stopped}}
    assert state["metadata"]["output"] == "ran\n"
    answers = await in_db(list, Message.objects.filter(session=session, role="assistant"))
    assert all("error" not in answer.data for answer in answers)
    assert await in_db(Part.objects.filter(session=session, data__text="I see").exists)
    assert (await in_db(Run.objects.get, session=session)).recoveries == 0


async def test_a_stop_while_nobody_works_is_settled_by_the_next_worker(
    alice: User, session: Session
) -> None:
    await in_db(prompt, alice, session, script([{"text": "half"}, {"delay_ms": 60_000}]))
    half = Part.objects.filter(session=session, data__text="half")
    async with worker_ends_during(session, half.exists, grace_s=0):
        assert await stop(alice, session)

    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert session.outcome == "stopped"
    assert session.outcome_reason == {"reason": "stopped_by", "values": {"name": "Alice"}}
    assert await in_db(half.exists)


async def test_a_worker_that_ends_takes_nothing_up(alice: User, session: Session) -> None:
    await in_db(prompt, alice, session, script([{"text": "x"}]))
    await coordinator._leave(0)
    await run_session(session.pk)
    await assert_handed_over(session)


async def test_a_doubled_ring_does_not_take_up_what_a_stop_holds(
    alice: User, session: Session
) -> None:
    await in_db(prompt, alice, session, script([{"delay_ms": 60_000}, {"text": "never"}]))
    drain = asyncio.create_task(run_session(session.pk))
    await until(Part.objects.filter(session=session, type="step-start").exists)
    await in_db(prompt, alice, session, script([{"text": "held"}]), delivery="queue")
    await stop(alice, session)
    await drain
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert session.state == "idle"
    assert await in_db(SessionInput.objects.filter(status="admitted").count) == 1
