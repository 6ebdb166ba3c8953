from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from sessions.actions.permissions import reply_permission
from sessions.inbox import steps_since_promotion
from sessions.models import Message, Part, PermissionRequest, Project, Session
from sessions.present.conversation.docks import load_cards
from teams.models import User
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.runner.drains import drain, parts_of
from tests.sessions.story import Story

pytestmark = pytest.mark.any_database

LS = {"tool": "list", "input": {}}
STATES = {"completed", "error"}


def states(session: Session) -> list[str]:
    return [part["state"]["status"] for part in parts_of(session, "tool")]


def pending(session: Session) -> list[PermissionRequest]:
    rows = PermissionRequest.objects.filter(session=session, status="pending")
    return list(rows.order_by("permission", "pk"))


def asked(session: Session) -> list[str]:
    return [request.permission for request in pending(session)]


async def answer(
    alice: User, session: Session, reply: Any, *, permission: str = "doom_loop"
) -> PermissionRequest:
    rows = await in_db(pending, session)
    request = next(row for row in rows if row.permission == permission)
    access = await in_db(session_access, alice, session)
    await in_db(reply_permission, access, request, reply=reply)
    return request


async def test_the_third_equal_call_of_an_answer_waits_and_a_reply_lets_it_run(
    alice: User, session: Session
) -> None:
    await in_db(prompt, alice, session, script([LS, LS, LS], [{"text": "enough"}]))
    await drain(session)
    assert session.state == "waiting"
    assert await in_db(states, session) == ["completed", "completed", "running"]
    request = await answer(alice, session, "once")
    assert (request.permission, request.patterns) == ("doom_loop", ["list"])
    assert request.metadata == {
        "tool": "list",
        "input": {},
        "reason": "The agent makes the same call for the third time in a row.",
    }
    card = (await in_db(load_cards, session, [request]))[0]
    assert card.title == "The agent is repeating itself. Continue with list?"
    assert card.why == request.metadata["reason"]
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "done")
    assert await in_db(states, session) == ["completed"] * 3


async def test_equal_calls_ask_once_and_one_reply_holds_for_all_of_them(
    alice: User, session: Session
) -> None:
    await in_db(prompt, alice, session, script([LS] * 6, [{"text": "enough"}]))
    await drain(session)
    assert await in_db(asked, session) == ["doom_loop"]
    assert await in_db(states, session) == ["completed"] * 2 + ["running"] * 4
    # A ring in between does not run what waits.
    await drain(session)
    assert await in_db(asked, session) == ["doom_loop"]
    await answer(alice, session, "once")
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "done")
    assert await in_db(states, session) == ["completed"] * 6


async def test_a_rejection_holds_for_all_equal_calls(alice: User, session: Session) -> None:
    await in_db(prompt, alice, session, script([LS] * 5, [{"text": "not reached"}]))
    await drain(session)
    await answer(alice, session, "reject")
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "stopped")
    assert await in_db(states, session) == ["completed"] * 2 + ["error"] * 3


async def test_text_between_equal_calls_and_equal_calls_of_other_answers_ask_nobody(
    alice: User, session: Session
) -> None:
    apart = [LS, LS, {"text": "Once more."}, LS]
    await in_db(prompt, alice, session, script(apart, [LS], [LS, LS], [{"text": "enough"}]))
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "done")
    assert await in_db(states, session) == ["completed"] * 6


async def test_a_rejected_circle_ends_the_turn_and_runs_nothing(
    alice: User, session: Session
) -> None:
    await in_db(prompt, alice, session, script([LS, LS, LS], [{"text": "not reached"}]))
    await drain(session)
    await answer(alice, session, "reject")
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "stopped")
    assert await in_db(states, session) == ["completed", "completed", "error"]
    assert await in_db(parts_of, session, "text") == []


async def test_a_call_that_may_go_on_still_asks_for_itself(
    alice: User, session: Session, project: Project
) -> None:
    run = {"tool": "bash", "input": {"command": "echo x >> log"}}
    await in_db(prompt, alice, session, script([run, run, run], [{"text": "end"}]))
    await drain(session)
    assert await in_db(asked, session) == ["bash", "bash", "doom_loop"]
    for _ in range(2):
        await answer(alice, session, "once", permission="bash")
        await drain(session)
    assert (Path(project.directory) / "log").read_text() == "x\n" * 2
    await answer(alice, session, "once", permission="doom_loop")
    await drain(session)
    assert (Path(project.directory) / "log").read_text() == "x\n" * 2
    await answer(alice, session, "once", permission="bash")
    await drain(session)
    assert session.outcome == "done"
    assert (Path(project.directory) / "log").read_text() == "x\n" * 3


async def test_a_rule_that_denies_circles_ends_the_turn_without_a_question(
    alice: User, session: Session, project: Project
) -> None:
    project.config = {"permission": {"doom_loop": "deny"}}
    await in_db(project.save)
    await in_db(prompt, alice, session, script([LS, LS, LS], [{"text": "not reached"}]))
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "stopped")
    assert session.outcome_reason["reason"] == "repeated_calls"
    assert await in_db(states, session) == ["completed", "completed", "error"]
    assert not await in_db(PermissionRequest.objects.filter(session=session).exists)


@pytest.mark.parametrize("action", ["allow", "ask"])
async def test_rules_decide_about_circles(
    action: str, alice: User, session: Session, project: Project
) -> None:
    project.config = {"permission": {"doom_loop": {"list": action}}}
    await in_db(project.save)
    await in_db(prompt, alice, session, script([LS, LS, LS, LS], [{"text": "end"}]))
    await drain(session)
    assert session.state == {"allow": "idle", "ask": "waiting"}[action]


async def test_unknown_tools_called_again_and_again_are_a_circle_too(
    alice: User, session: Session
) -> None:
    gone = {"tool": "teleport", "input": {}}
    await in_db(prompt, alice, session, script([gone, gone, gone], [{"text": "end"}]))
    await drain(session)
    assert session.state == "waiting"


async def test_a_text_without_end_stops_the_turn_and_stays_out_of_the_history(
    alice: User, session: Session
) -> None:
    step = {"events": [{"text": "I will try again. " * 1_000}], "chunk_chars": 500}
    await in_db(prompt, alice, session, script(turns=[[step]]))
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "failed")
    said = {"reason": "repeated_text", "values": {}}
    assert session.outcome_reason == {"reason": "ask_otherwise", "values": {"said": said}}
    text = (await in_db(parts_of, session, "text"))[0]["text"]
    assert 6_000 <= len(text) < 9_000
    row = await in_db(Message.objects.get, session=session, role="assistant")
    data = {"message": session.outcome_detail, **session.outcome_reason}
    assert row.data["error"] == {"name": "UnknownError", "data": data}


async def test_at_the_step_limit_a_call_is_answered_with_an_error_and_the_turn_ends(
    alice: User, session: Session, project: Project
) -> None:
    project.config = {"agent": {"build": {"steps": 2}}}
    await in_db(project.save)
    read = {"tool": "glob", "input": {"pattern": "*"}}
    await in_db(prompt, alice, session, script([LS], [read], [{"text": "not reached"}]))
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "stopped")
    assert session.outcome_reason == {"reason": "no_step_left", "values": {"steps": 2}}
    first, second = await in_db(parts_of, session, "tool")
    assert (first["state"]["status"], second["state"]["status"]) == ("completed", "error")
    assert second["state"]["error"] == session.outcome_detail
    finishes = await in_db(Part.objects.filter(session=session, type="step-finish").count)
    assert finishes == 2


async def test_the_step_limit_counts_from_the_newest_prompts(
    alice: User, session: Session, project: Project
) -> None:
    project.config = {"agent": {"build": {"steps": 2}}}
    await in_db(project.save)
    for _ in range(3):
        await in_db(prompt, alice, session, script([LS], [{"text": "done"}]))
        await drain(session)
        assert session.outcome == "done"
    assert [part["text"] for part in await in_db(parts_of, session, "text")] == ["done"] * 3


def test_only_answers_that_were_given_are_steps(alice: User, session: Session) -> None:
    story = Story(session, alice)
    story.ask("go")
    for fields in ({"finish": "tool-calls"}, {}, {"finish": "stop", "summary": True}):
        story.answer(**fields)
    assert steps_since_promotion(session) == 1


async def test_the_last_step_forbids_calls_and_asks_for_an_end(
    alice: User, session: Session, project: Project, requests: list[Any]
) -> None:
    project.config = {"agent": {"build": {"steps": 2}}}
    await in_db(project.save)
    await in_db(prompt, alice, session, script([LS], [{"text": "summed up"}]))
    await drain(session)
    assert session.outcome == "done"
    first, last = requests
    assert (first.tool_choice, last.tool_choice) == ("auto", "none")
    assert first.tools == last.tools
    assert first.system == last.system
    assert "limit of 2 steps is reached" in last.messages[-1].text
    assert last.messages[: len(first.messages)] == first.messages


async def test_calls_that_cannot_be_made_close_a_circle_too(alice: User, session: Session) -> None:
    wrong = {"tool": "teleport", "input": {}}
    await in_db(prompt, alice, session, script([wrong, wrong, wrong], [{"text": "enough"}]))
    await drain(session)
    assert session.state == "waiting"
    request = await answer(alice, session, "once")
    assert (request.permission, request.patterns) == ("doom_loop", ["teleport"])
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "done")
