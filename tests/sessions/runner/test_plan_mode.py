from __future__ import annotations

from pathlib import Path
from typing import Any

from opencode_web.lib.db import in_db
from providers.llm.messages import ProviderRequest
from sessions.actions.questions import reply_question
from sessions.models import Message, Part, Project, QuestionRequest, Session
from sessions.plan_file import plan_path
from teams.models import User
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.runner.drains import drain, parts_of

EXIT = {"tool": "plan_exit", "input": {}}
ENTER = {"tool": "plan_enter", "input": {"reason": "It is large."}}


async def answer(alice: User, session: Session, *words: str) -> None:
    request = await in_db(QuestionRequest.objects.get, session=session, status="pending")
    access = await in_db(session_access, alice, session)
    await in_db(reply_question, access, request, answers=[list(words)])
    await drain(session)


def prompts_of(session: Session) -> list[Message]:
    return list(Message.objects.filter(session=session, role="user").order_by("seq"))


def writing_the_plan(session: Session) -> dict[str, Any]:
    return {"tool": "write", "input": {"filePath": plan_path(session), "content": "# Goal\n\nMend"}}


def before_and_after(first: list[list[dict[str, Any]]], second: list[list[dict[str, Any]]]) -> str:
    return script(turns=[[{"events": events} for events in steps] for steps in (first, second)])


async def test_feat2_fr_06_an_approved_plan_is_carried_out_by_build_in_the_next_turn(
    alice: User, session: Session, requests: list[ProviderRequest]
) -> None:
    steps = before_and_after([[writing_the_plan(session)], [EXIT]], [[{"text": "carried out"}]])
    await in_db(prompt, alice, session, steps, agent="plan")
    await drain(session)
    assert (session.state, session.waits_for) == ("waiting", "person")
    await answer(alice, session, "Yes")
    assert (session.state, session.outcome, session.agent) == ("idle", "done", "build")
    first, second = await in_db(prompts_of, session)
    assert (first.data["agent"], second.data["agent"]) == ("plan", "build")
    assert second.author_id == alice.pk
    (text,) = await in_db(lambda: [part.data for part in Part.objects.filter(message=second)])
    assert text["synthetic"] is True
    assert plan_path(session) in text["text"]
    answers = await in_db(
        lambda: [row.data for row in Message.objects.filter(session=session, role="assistant")]
    )
    assert sorted(info["agent"] for info in answers) == ["build", "plan", "plan"]
    assert [diff["file"] for diff in first.data["summary"]["diffs"]] == [plan_path(session)]
    assert "edit" in [tool.name for tool in requests[-1].tools]
    assert "plan_exit" not in [tool.name for tool in requests[-1].tools]


async def test_the_steps_of_the_plan_are_not_those_of_build(
    alice: User, session: Session, project: Project
) -> None:
    project.config = {"agent": {"build": {"steps": 2}}}
    await in_db(project.save)
    calls = [[{"tool": "list", "input": {}}], [{"text": "carried out"}]]
    steps = before_and_after([[writing_the_plan(session)], [EXIT]], calls)
    await in_db(prompt, alice, session, steps, agent="plan")
    await drain(session)
    await answer(alice, session, "Yes")
    parts = await in_db(parts_of, session, "tool")
    assert (parts[-1]["tool"], parts[-1]["state"]["status"]) == ("list", "completed")


async def test_a_rejected_plan_ends_the_turn_in_plan_mode(alice: User, session: Session) -> None:
    steps = script([writing_the_plan(session)], [EXIT], [{"text": "not reached"}])
    await in_db(prompt, alice, session, steps, agent="plan")
    await drain(session)
    await answer(alice, session, "No")
    assert (session.state, session.outcome, session.agent) == ("idle", "stopped", "plan")
    assert len(await in_db(prompts_of, session)) == 1
    assert await in_db(parts_of, session, "text") == []


async def test_words_about_the_plan_go_back_to_the_plan_agent(
    alice: User, session: Session
) -> None:
    steps = script([writing_the_plan(session)], [EXIT], [{"text": "changed"}])
    await in_db(prompt, alice, session, steps, agent="plan")
    await drain(session)
    await answer(alice, session, "Leave the tests alone")
    assert (session.outcome, session.agent) == ("done", "plan")
    _, call = await in_db(parts_of, session, "tool")
    assert "Leave the tests alone" in call["state"]["error"]


async def test_an_agreed_plan_mode_changes_nothing_but_the_plan(
    alice: User, session: Session, project: Project, requests: list[ProviderRequest]
) -> None:
    other = {"tool": "write", "input": {"filePath": "till.py", "content": "x"}}
    steps = before_and_after([[ENTER]], [[other, writing_the_plan(session)], [{"text": "planned"}]])
    await in_db(prompt, alice, session, steps, agent="build")
    await drain(session)
    await answer(alice, session, "Yes")
    assert (session.outcome, session.agent) == ("done", "plan")
    _, refused, written = await in_db(parts_of, session, "tool")
    assert (refused["state"]["status"], written["state"]["status"]) == ("error", "completed")
    assert not (Path(project.directory) / "till.py").exists()
    assert (Path(project.directory) / plan_path(session)).read_text() == "# Goal\n\nMend"
    told = [str(message) for message in requests[1].messages]
    assert any(plan_path(session) in text and "Plan mode is on" in text for text in told)


async def test_without_consent_build_goes_on(alice: User, session: Session) -> None:
    await in_db(prompt, alice, session, script([ENTER], [{"text": "built"}]), agent="build")
    await drain(session)
    await answer(alice, session, "No")
    assert (session.outcome, session.agent) == ("done", "build")
    assert len(await in_db(prompts_of, session)) == 1


async def test_what_a_person_adds_meanwhile_does_not_undo_the_switch(
    alice: User, session: Session
) -> None:
    steps = before_and_after([[writing_the_plan(session)], [EXIT]], [[{"text": "carried out"}]])
    await in_db(prompt, alice, session, steps, agent="plan")
    await drain(session)
    await in_db(prompt, alice, session, "and be quick", agent="plan")
    await answer(alice, session, "Yes")
    prompts = await in_db(prompts_of, session)
    assert [row.data["agent"] for row in prompts] == ["plan", "plan", "build"]
    assert session.agent == "build"


async def test_a_session_that_may_not_plan_is_not_offered_it(
    alice: User, session: Session, requests: list[ProviderRequest]
) -> None:
    await in_db(
        prompt, alice, session, script([ENTER], [{"text": "k"}]), tools={"plan_enter": False}
    )
    await drain(session)
    assert "plan_enter" not in [tool.name for tool in requests[0].tools]
    (call,) = await in_db(parts_of, session, "tool")
    assert call["tool"] == "invalid"
