from __future__ import annotations

from opencode_web.lib.db import in_db
from providers.llm.messages import ModelRef
from providers.models import ProviderConfig
from sessions.models import Message, Part, Session
from sessions.runner.log.history import newest_answer
from sessions.runner.log.model_history import build_messages
from teams.models import Membership, User
from tests.sessions.factories import prompt, script
from tests.sessions.runner.drains import drain


async def test_an_error_that_no_retry_helps_ends_the_turn_and_is_said(
    alice: User, session: Session
) -> None:
    steps = [{"error": {"status": 401, "message": "bad key"}}]
    await in_db(prompt, alice, session, script(steps))
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "failed")
    assert session.outcome_detail
    answer = await in_db(Message.objects.get, session=session, role="assistant")
    assert answer.data["error"]["name"] == "ProviderAuthError"
    assert answer.data["time"]["completed"]


REFUSED = {"error": {"status": 400, "message": "no such parameter"}}


async def test_an_answer_that_fails_for_good_keeps_and_marks_what_came(
    alice: User, session: Session
) -> None:
    await in_db(prompt, alice, session, script([{"text": "so far"}, REFUSED]))
    await drain(session)
    assert session.outcome == "failed"
    part = await in_db(Part.objects.get, session=session, data__text="so far")
    assert part.data["metadata"] == {"interrupted": True}


async def test_a_failed_answer_is_not_sent_to_the_model_again(
    alice: User, session: Session
) -> None:
    await in_db(prompt, alice, session, script([{"text": "so far"}, REFUSED]))
    await drain(session)
    messages = await in_db(build_messages, session, ModelRef("demo", "inline"))
    assert [type(message).__name__ for message in messages] == ["UserMessage"]


async def test_a_model_that_was_taken_away_fails_the_turn_clearly(
    alice: User, session: Session
) -> None:
    await in_db(prompt, alice, session, script([{"text": "x"}]))
    await in_db(ProviderConfig.objects.all().delete)
    await drain(session)
    assert session.outcome == "failed"
    assert "demo/inline" in session.outcome_detail


async def test_a_removed_member_does_not_run_any_more(
    alice: User, bob: User, session: Session
) -> None:
    await in_db(prompt, bob, session, script([{"text": "x"}]))
    await in_db(Membership.objects.filter(user=bob).delete)
    await drain(session)
    assert session.outcome == "failed"
    assert not await in_db(Part.objects.filter(session=session, data__text="x").exists)


async def test_a_refused_key_says_who_can_replace_it(alice: User, session: Session) -> None:
    steps = [{"error": {"status": 401, "message": "Wrong key sk-live-abcdefgh1234"}}]
    await in_db(prompt, alice, session, script(steps))
    await drain(session)
    answer = await in_db(Message.objects.get, session=session, role="assistant")
    message = answer.data["error"]["data"]["message"]
    assert message.endswith("an admin can replace it under Team settings → Models.")
    assert "abcdefgh1234" not in str(answer.data)
    assert session.outcome_detail == message


async def test_an_answer_that_is_cut_at_its_length_is_kept_and_says_so(
    alice: User, session: Session
) -> None:
    turns = [[{"events": [{"text": "the first part"}], "finish": "length"}]]
    await in_db(prompt, alice, session, script(turns=turns))
    await drain(session)
    answer = await in_db(Message.objects.get, session=session, role="assistant")
    assert answer.data["error"]["name"] == "MessageOutputLengthError"
    assert "continue" in session.outcome_detail
    messages = await in_db(build_messages, session, ModelRef("demo", "inline"))
    assert [type(message).__name__ for message in messages] == ["UserMessage", "AssistantMessage"]


async def test_an_overflow_is_asked_once_and_left_to_the_context_window(
    alice: User, session: Session
) -> None:
    steps = [{"error": {"status": 400, "message": "prompt is too long: 9 tokens > 8 maximum"}}]
    await in_db(prompt, alice, session, script(steps))
    await drain(session)
    answer = await in_db(newest_answer, session)
    assert answer.overflowed
    assert not answer.was_interrupted
    assert await in_db(Part.objects.filter(session=session, type="retry").count) == 0
