from __future__ import annotations

from opencode_web.lib.db import in_db
from sessions.actions.revert import revert_session
from sessions.models import Event, Message, Part, Session, SessionInput
from sessions.runner import run_session
from sessions.runner.log.model_history import build_messages
from teams.models import User
from tests.sessions.factories import INLINE, prompt, script, session_access
from tests.sessions.runner.test_inbox import say, texts


async def _two_turns(alice: User, session: Session) -> list[SessionInput]:
    rows = []
    for text in ("first", "second"):
        rows.append(await in_db(prompt, alice, session, say(text)))
        await run_session(session.pk)
    return rows


def _roll_back(alice: User, session: Session, message_id: str, part_id: str | None = None) -> None:
    revert_session(session_access(alice, session), message_id, part_id=part_id)


def _kinds(session: Session, after: int) -> list[str]:
    rows = Event.objects.filter(session=session, seq__gt=after).order_by("seq")
    return list(rows.values_list("type", flat=True))


async def test_the_next_prompt_removes_what_is_rolled_back_in_the_same_transaction(
    alice: User, session: Session
) -> None:
    rows = await _two_turns(alice, session)
    await in_db(_roll_back, alice, session, rows[1].pk)
    await in_db(prompt, alice, session, say("instead"))
    await in_db(session.refresh_from_db)
    before = session.seq
    await run_session(session.pk)
    assert await in_db(texts, session) == [
        "user: (script)",
        "assistant: first",
        "user: (script)",
        "assistant: instead",
    ]
    kinds = await in_db(_kinds, session, before)
    assert kinds[:5] == [
        "message.removed",
        "message.removed",
        "session.reverted",
        "input.promoted",
        "message.updated",
    ]
    await in_db(session.refresh_from_db)
    assert (session.revert, session.hidden_from) == ({}, None)


async def test_the_model_never_sees_what_is_rolled_back(alice: User, session: Session) -> None:
    rows = await _two_turns(alice, session)
    await in_db(_roll_back, alice, session, rows[1].pk)
    await in_db(session.refresh_from_db)
    seen = await in_db(build_messages, session, INLINE)
    assert len(seen) == 2
    assert "second" not in str(seen)


async def test_a_queued_prompt_after_a_half_answer_is_the_next_thing_to_do(
    alice: User, session: Session
) -> None:
    steps = [[{"text": "look"}, {"tool": "list", "input": {}}], [{"text": "found"}]]
    await in_db(prompt, alice, session, script(*steps, turns=[[{"events": s} for s in steps]]))
    await run_session(session.pk)
    answer = await in_db(
        Message.objects.filter(session=session, role="assistant").order_by("seq").first
    )
    assert answer is not None
    part = await in_db(Part.objects.filter(message=answer, type="tool").first)
    assert part is not None
    last = await in_db(Part.objects.filter(message=answer).order_by("-seq").first)
    assert last is not None
    # The call stays, so that the answer alone would ask to be continued.
    await in_db(_roll_back, alice, session, answer.pk, last.pk)
    await in_db(prompt, alice, session, say("other"), delivery="queue")
    await run_session(session.pk)
    assert await in_db(texts, session) == [
        "user: (script)",
        "assistant: look",
        "user: (script)",
        "assistant: other",
    ]
    assert await in_db(Part.objects.filter(pk=part.pk).exists)
    assert not await in_db(Part.objects.filter(pk=last.pk).exists)


async def test_a_wake_alone_makes_nothing_final(alice: User, session: Session) -> None:
    rows = await _two_turns(alice, session)
    await in_db(_roll_back, alice, session, rows[0].pk)
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert session.state == "idle"
    assert session.revert == {"messageID": rows[0].pk}
    assert await in_db(Message.objects.filter(session=session).count) == 4
