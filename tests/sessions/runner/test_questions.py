from __future__ import annotations

import pytest

from opencode_web.lib.db import in_db
from sessions.actions.questions import reject_question, reply_question
from sessions.actions.recovery import release_dead_leases
from sessions.models import Part, Project, QuestionRequest, Run, Session, State
from sessions.runner import run_session
from sessions.runner.log.lease import runnable_sessions
from teams.models import User
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.runner.drains import stop

COLOUR = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [{"label": "Red", "description": "Warm"}, {"label": "Blue", "description": "Cold"}],
}
CALL = {"tool": "question", "input": {"questions": [COLOUR]}}


@pytest.fixture
async def asked(alice: User, session: Session) -> QuestionRequest:
    """A session that is suspended at a question."""
    await in_db(prompt, alice, session, script([CALL], [{"text": "painted"}]))
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    return await in_db(QuestionRequest.objects.get, session=session)


async def _tool(session: Session) -> Part:
    return await in_db(Part.objects.get, session=session, type="tool")


async def test_a_question_suspends_the_session_and_holds_nothing(
    asked: QuestionRequest, session: Session
) -> None:
    assert (session.state, session.waits_for) == (State.WAITING, "person")
    assert asked.questions == [COLOUR]
    assert asked.agent == "build"
    run = await in_db(Run.objects.get, session=session)
    assert run.lease_until is None
    assert await in_db(runnable_sessions) == []
    part = await _tool(session)
    assert part.data["state"]["status"] == "running"
    assert part.data["state"]["input"]["questions"][0]["question"] == COLOUR["question"]
    assert (asked.message_id, asked.call_id) == (part.message_id, part.data["callID"])


async def test_the_answer_continues_at_the_waiting_call(
    asked: QuestionRequest, bob: User, session: Session
) -> None:
    # A bell that rings too early changes nothing.
    await run_session(session.pk)
    await in_db(release_dead_leases)
    access = await in_db(session_access, bob, session)
    await in_db(reply_question, access, asked, answers=[["Blue"]])
    assert [pk for pk, _ in await in_db(runnable_sessions)] == [session.pk]
    await run_session(session.pk)
    state = (await _tool(session)).data["state"]
    assert state["status"] == "completed"
    assert state["title"] == "Asked 1 question"
    assert state["metadata"]["answers"] == [["Blue"]]
    assert "Which colour?\n  Answer: Blue" in state["output"]
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome) == ("idle", "done")
    assert await in_db(Part.objects.filter(session=session, data__text="painted").exists)
    assert await in_db(QuestionRequest.objects.count) == 1


async def test_a_dismissed_question_ends_the_turn(
    asked: QuestionRequest, bob: User, session: Session
) -> None:
    access = await in_db(session_access, bob, session)
    await in_db(reject_question, access, asked)
    await run_session(session.pk)
    state = (await _tool(session)).data["state"]
    assert (state["status"], state["error"]) == ("error", "The user dismissed this question")
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome) == ("idle", "stopped")
    assert session.outcome_reason == {"reason": "dismissed", "values": {"name": "Bob"}}
    assert not await in_db(Part.objects.filter(session=session, data__text="painted").exists)


async def test_settings_have_the_agent_go_on_after_a_dismissed_question(
    asked: QuestionRequest, bob: User, session: Session, project: Project
) -> None:
    project.config = {"experimental": {"continue_loop_on_deny": True}}
    await in_db(project.save)
    await in_db(reject_question, await in_db(session_access, bob, session), asked)
    await run_session(session.pk)
    assert (await _tool(session)).data["state"]["status"] == "error"
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome) == ("idle", "done")
    assert await in_db(Part.objects.filter(session=session, data__text="painted").exists)


async def test_a_stop_takes_the_question_away(
    asked: QuestionRequest, bob: User, session: Session
) -> None:
    assert await stop(bob, session)
    await run_session(session.pk)
    await in_db(asked.refresh_from_db)
    assert asked.status == "cancelled"
    await in_db(session.refresh_from_db)
    assert session.state == "idle"
    assert session.outcome_reason == {"reason": "stopped_by", "values": {"name": "Bob"}}
    assert (await _tool(session)).data["state"]["status"] == "error"


async def test_two_questions_of_one_step_wait_for_each_other(alice: User, session: Session) -> None:
    other = {"tool": "question", "input": {"questions": [{**COLOUR, "question": "And then?"}]}}
    await in_db(prompt, alice, session, script([CALL, other], [{"text": "painted"}]))
    await run_session(session.pk)
    first, second = await in_db(lambda: list(QuestionRequest.objects.order_by("created_at", "pk")))
    access = await in_db(session_access, alice, session)
    await in_db(reply_question, access, first, answers=[["Red"]])
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert session.state == State.WAITING
    await in_db(reply_question, access, second, answers=[["my own"]])
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome) == ("idle", "done")


async def test_an_agent_that_may_not_ask_people_is_told_so(alice: User, session: Session) -> None:
    text = script([CALL], [{"text": "alone"}])
    await in_db(prompt, alice, session, text, tools={"question": False})
    await run_session(session.pk)
    part = await _tool(session)
    assert part.data["tool"] == "invalid"
    assert not await in_db(QuestionRequest.objects.exists)
