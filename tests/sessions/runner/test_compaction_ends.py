from __future__ import annotations

import asyncio
from datetime import timedelta

from django.utils import timezone

from opencode_web.lib.db import in_db
from sessions.actions.control import request_stop
from sessions.actions.history import delete_messages
from sessions.models import Compaction, Run, Session
from sessions.runner import run_session
from sessions.runner.calls.tool_calls import run_step
from sessions.runner.drain.advance import advance
from sessions.runner.log.model_history import load_history
from sessions.runner.turn.provider_turn import run_turn
from teams.models import User
from tests.sessions.factories import prompt, session_access
from tests.sessions.runner.drains import take_up_and_begin
from tests.sessions.runner.statements import recorded_statements
from tests.sessions.runner.test_compaction import (  # noqa: F401 - its fixture works here, too
    FULL,
    LOOK,
    SUMMARY,
    Requests,
    play,
    run,
    small_model,
    step,
    talk,
    text_of,
)


async def test_a_stop_ends_a_compaction_and_the_history_is_as_before(
    alice: User, session: Session, requests: Requests
) -> None:
    slow = step({"text": "It"}, {"delay_ms": 60_000}, {"text": " was."})
    await in_db(talk, session, alice, summary=slow)
    await in_db(prompt, alice, session, play([step(LOOK, **FULL)], [step({"text": "done"})]))
    work = asyncio.create_task(run_session(session.pk))
    async with asyncio.timeout(25):
        while not await in_db(_is_compacting, session):
            await asyncio.sleep(0.05)
    await in_db(request_stop, await in_db(session_access, alice, session))
    await asyncio.wait_for(work, 25)
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome) == ("idle", "stopped")
    assert session.compacting_at is None
    assert not await in_db(Compaction.objects.exists)


def _is_compacting(session: Session) -> bool:
    return Session.objects.filter(pk=session.pk, compacting_at__isnull=False).exists()


async def test_one_whose_worker_has_died_is_made_again(
    alice: User, session: Session, requests: Requests
) -> None:
    await in_db(talk, session, alice)
    await in_db(prompt, alice, session, play([step(LOOK, **FULL)], [step({"text": "done"})]))
    lease, first = await in_db(take_up_and_begin, session.pk)
    events = await run_turn(first, lease)
    tools = await in_db(advance, lease, events)
    events, _ = await run_step(tools, lease)
    compaction = await in_db(advance, lease, events)
    assert compaction.summary is not None
    # Its worker dies here, and another one takes over.
    await in_db(lambda: Run.objects.update(lease_until=timezone.now() - timedelta(minutes=1)))
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome) == ("idle", "done")
    assert await in_db(Compaction.objects.count) == 1
    assert text_of(requests[-1], 1) == SUMMARY


async def test_what_is_loaded_after_it_does_not_depend_on_what_came_before(
    alice: User, session: Session
) -> None:
    counts = []
    for turns in (5, 500):
        await in_db(talk, session, alice, turns=turns)
        await run(alice, session, play([step(LOOK, **FULL)], [step({"text": "done"})]))
        with recorded_statements() as statements:
            history = await in_db(load_history, session)
        assert len(history.entries) < 10
        counts.append(len(statements))
    assert counts == [3, 3]


async def test_a_deleted_summary_brings_the_history_back(alice: User, session: Session) -> None:
    await in_db(talk, session, alice)
    await run(alice, session, play([step(LOOK, **FULL)], [step({"text": "done"})]))
    row = await in_db(Compaction.objects.get)
    access = await in_db(session_access, alice, session)
    await in_db(delete_messages, access, [row.summary_id])
    history = await in_db(load_history, session)
    assert history.compacted == ()
    assert "Question 0" in str(history.entries[0].parts)
