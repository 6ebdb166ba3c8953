from __future__ import annotations

import asyncio

import pytest

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Conflict
from opencode_web.lib.ids import new_id
from sessions.models import Message, Session, SessionInput
from sessions.runner import run_session
from teams.models import User
from tests.sessions.factories import prompt, script
from tests.sessions.runner.test_stop import until


def texts(session: Session) -> list[str]:
    rows = Message.objects.filter(session=session).order_by("seq")
    found = []
    for row in rows:
        text = "".join(p.data.get("text", "") for p in row.parts.order_by("seq", "id"))
        found.append(f"{row.role}: {'(script)' if 'script' in text else text}")
    return found


def say(text: str) -> str:
    return script([{"text": text}])


async def test_fr01_a_prompt_is_a_row_before_anything_runs(alice: User, session: Session) -> None:
    row = await in_db(prompt, alice, session, say("x"))
    assert row.status == "admitted"
    assert await in_db(Message.objects.filter(session=session).count) == 0


async def test_fr02_a_steer_is_taken_at_the_next_boundary(alice: User, session: Session) -> None:
    await in_db(
        prompt,
        alice,
        session,
        script(
            [{"delay_ms": 500}, {"tool": "list", "input": {}}],
            [{"text": "not reached: the newest script counts"}],
        ),
    )
    drain = asyncio.create_task(run_session(session.pk))
    await until(lambda: Message.objects.filter(session=session, role="assistant").exists())
    await in_db(prompt, alice, session, say("steered"), delivery="steer")
    await drain
    assert await in_db(texts, session) == [
        "user: (script)",
        "assistant: ",
        "user: (script)",
        "assistant: steered",
    ]


async def test_fr10_a_queued_prompt_starts_the_next_turn(alice: User, session: Session) -> None:
    first = script([{"delay_ms": 400}, {"text": "one"}])
    await in_db(prompt, alice, session, first)
    drain = asyncio.create_task(run_session(session.pk))
    await until(lambda: Message.objects.filter(session=session, role="assistant").exists())
    await in_db(prompt, alice, session, say("two"), delivery="queue")
    await in_db(prompt, alice, session, say("three"), delivery="queue")
    await drain
    assert [text for text in await in_db(texts, session) if text.startswith("a")] == [
        "assistant: one",
        "assistant: two",
        "assistant: three",
    ]
    promoted = await in_db(SessionInput.objects.filter(status="promoted").count)
    assert promoted == 3


async def test_an_exact_retry_returns_the_first_prompt(alice: User, session: Session) -> None:
    message_id = new_id("msg")
    first = await in_db(prompt, alice, session, say("x"), message_id=message_id)
    again = await in_db(prompt, alice, session, say("x"), message_id=message_id)
    assert first.pk == again.pk
    assert await in_db(SessionInput.objects.count) == 1


async def test_the_same_id_with_other_content_is_a_conflict(alice: User, session: Session) -> None:
    message_id = new_id("msg")
    await in_db(prompt, alice, session, say("x"), message_id=message_id)
    with pytest.raises(Conflict):
        await in_db(prompt, alice, session, say("y"), message_id=message_id)


async def test_a_prompt_that_comes_while_the_drain_ends_is_not_lost(
    alice: User, session: Session
) -> None:
    for number in range(5):
        await in_db(prompt, alice, session, say(f"n{number}"))
        first = asyncio.create_task(run_session(session.pk))
        await asyncio.sleep(0.01 * number)
        await in_db(prompt, alice, session, say(f"m{number}"), delivery="queue")
        await asyncio.gather(first, run_session(session.pk))
        await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert session.state == "idle"
    assert await in_db(SessionInput.objects.filter(status="admitted").count) == 0
