"""Every automatic repeat has an end. The requests that reach the provider are counted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from providers.llm.events import StreamEvent
from providers.llm.messages import AssistantMessage, ProviderRequest, Text, UserMessage
from providers.testing import ScriptedProvider
from sessions.actions.permissions import reply_permission
from sessions.actions.retry_failed_turn import go_on_after_fault
from sessions.events.parts import PART
from sessions.models import Compaction, Event, Message, Project, Run, Session
from sessions.runner.drain import advance, turn_limits
from sessions.runner.drain.turn_limits import reached_equal_calls
from teams.models import User
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.runner.drains import drain, parts_of, take_up_and_begin
from tests.sessions.runner.statements import recorded_statements
from tests.sessions.runner.test_compaction import (  # noqa: F401 - its fixture works here, too
    FULL,
    LOOK,
    SUMMARY,
    TOO_LONG,
    Requests,
    play,
    small_model,
    step,
    talk,
)
from tests.sessions.runner.test_recovery import expire
from tests.sessions.runner.test_subagents import task

pytestmark = pytest.mark.any_database

LS = {"tool": "list", "input": {}}
OVERLOADED = {"error": {"status": 529, "message": "Overloaded", "retry_after_s": 0}}
# A turn that makes more requests than this has no end.
MANY = 40


@pytest.fixture(autouse=True)
def bounded(monkeypatch: pytest.MonkeyPatch, requests: Requests) -> None:
    play = ScriptedProvider.stream

    def listen(
        self: ScriptedProvider, request: ProviderRequest
    ) -> AsyncGenerator[StreamEvent, None]:
        assert len(requests) < 6 * MANY, "asked without end"
        return play(self, request)

    monkeypatch.setattr(ScriptedProvider, "stream", listen)


async def limit(project: Project, **limits: int) -> None:
    rules = {"*": "allow", "doom_loop": "allow"}
    project.config = {"limits": limits, "permission": rules}
    await in_db(project.save)


def newest_error(session: Session) -> dict[str, Any]:
    error: dict[str, Any] = Message.objects.filter(session=session).latest("seq").data["error"]
    return error


async def test_a_summary_that_is_too_long_has_one_shorter_try_and_then_a_reason(
    alice: User, session: Session, requests: Requests
) -> None:
    await in_db(talk, session, alice, turns=4, summary=step(TOO_LONG))
    await in_db(prompt, alice, session, play([step(LOOK, **FULL)], [step({"text": "done"})]))
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "failed")
    assert session.outcome_reason == {"reason": "summary_too_long", "values": {}}
    assert "roll back to an earlier turn" in session.outcome_detail
    whole, shorter = [request for request in requests if not request.tools]
    assert len(str(shorter.messages)) < 0.7 * len(str(whole.messages))
    assert "Question 0?" in str(whole.messages)
    assert "Question 0?" not in str(shorter.messages)
    error = await in_db(newest_error, session)
    assert error["name"] == "ContextOverflowError"
    assert error["data"]["reason"] == "summary_too_long"
    # Nothing rings for it, and nothing of the conversation is lost.
    before = len(requests)
    await drain(session)
    assert len(requests) == before
    assert not await in_db(Compaction.objects.exists)


async def test_a_shorter_summary_that_fits_takes_effect(
    alice: User, session: Session, requests: Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    await in_db(talk, session, alice, turns=4, summary=step(TOO_LONG))
    whole = ScriptedProvider.stream

    def stream(self: ScriptedProvider, request: ProviderRequest) -> Any:
        if "older half of the conversation is left out" in str(request.messages):
            return whole(ScriptedProvider(None), _summarized(request))
        return whole(self, request)

    monkeypatch.setattr(ScriptedProvider, "stream", stream)
    await in_db(prompt, alice, session, play([step(LOOK, **FULL)], [step({"text": "done"})]))
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "done")
    assert await in_db(Compaction.objects.count) == 1


def _summarized(request: ProviderRequest) -> ProviderRequest:
    return replace(request, messages=(UserMessage((Text(f"<conversation>\n{SUMMARY}"),)),))


async def test_a_person_can_have_a_summary_that_was_too_long_tried_again(
    alice: User, session: Session, requests: Requests
) -> None:
    await in_db(talk, session, alice, turns=4, summary=step(TOO_LONG))
    await in_db(prompt, alice, session, play([step(LOOK, **FULL)], [step({"text": "done"})]))
    await drain(session)
    before = len(requests)
    assert await in_db(go_on_after_fault, await in_db(session_access, alice, session))
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "failed")
    assert len(requests) == before + 2


async def test_a_summary_whose_provider_is_overloaded_is_tried_six_times(
    alice: User, session: Session, requests: Requests
) -> None:
    await in_db(talk, session, alice, summary=step(OVERLOADED))
    await in_db(prompt, alice, session, play([step(LOOK, **FULL)]))
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "failed")
    assert len([request for request in requests if not request.tools]) == 6


async def test_tries_are_counted_over_hand_overs_and_lost_workers(
    alice: User, session: Session, requests: Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    await in_db(prompt, alice, session, script([OVERLOADED]))
    asked = ScriptedProvider.stream

    def interrupted(self: ScriptedProvider, request: ProviderRequest) -> Any:
        if len(requests) == 2:
            asyncio.current_task().cancel()
        return asked(self, request)

    monkeypatch.setattr(ScriptedProvider, "stream", interrupted)
    await drain(session)
    assert session.state == "busy"
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "failed")
    # The one that was cut off by the hand-over is not one of the six.
    assert len(requests) == 7
    assert [part["attempt"] for part in await in_db(parts_of, session, "retry")] == [1, 2, 3, 4, 5]


async def test_a_wait_longer_than_the_limit_is_a_question_to_a_person(
    alice: User, session: Session, project: Project, requests: Requests
) -> None:
    closed = {"error": {"status": 429, "message": "Closed.", "retry_after_s": 24 * 3600}}
    await in_db(prompt, alice, session, script([closed]))
    await drain(session)
    assert (session.state, session.outcome, session.wake_at) == ("idle", "failed", None)
    assert session.outcome_reason == {
        "reason": "retry_after",
        "values": {"why": "Closed.", "wait_s": 86400, "limit_s": 600},
    }
    error = await in_db(newest_error, session)
    assert (error["name"], error["data"]["statusCode"]) == ("APIError", 429)
    assert len(requests) == 1
    assert await in_db(go_on_after_fault, await in_db(session_access, alice, session))
    await drain(session)
    assert len(requests) == 2


@pytest.mark.parametrize(("asked_s", "state"), [(600, "busy"), (601, "idle")])
async def test_the_limit_of_waits_is_ten_minutes(
    asked_s: int, state: str, alice: User, session: Session
) -> None:
    slow = {"error": {"status": 429, "message": "Slow down.", "retry_after_s": asked_s}}
    await in_db(prompt, alice, session, script([slow]))
    await drain(session)
    assert session.state == state
    said = "asks us to wait 601 s before the next try, which is more than the 600 s"
    assert (said in session.outcome_detail) == (state == "idle")


async def test_the_limit_of_waits_is_a_setting(
    alice: User, session: Session, project: Project
) -> None:
    await limit(project, retry_wait_s=30)
    slow = {"error": {"status": 429, "message": "Slow down.", "retry_after_s": 31}}
    await in_db(prompt, alice, session, script([slow]))
    await drain(session)
    assert session.outcome_reason["reason"] == "retry_after"


async def test_more_than_twenty_five_equal_calls_stop_the_turn_whatever_the_rules_allow(
    alice: User, session: Session, project: Project, requests: Requests
) -> None:
    await limit(project)
    other = {"tool": "glob", "input": {"pattern": "*"}}
    steps = [step for _ in range(30) for step in ([LS], [other])]
    await in_db(prompt, alice, session, script(*steps))
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "stopped")
    assert session.outcome_reason == {
        "reason": "equal_calls",
        "values": {"limit": 25, "tool": "list"},
    }
    assert len(requests) == 51
    calls = await in_db(parts_of, session, "tool")
    listed = [part["state"]["status"] for part in calls if part["tool"] == "list"]
    assert listed == ["completed"] * 25 + ["error"]
    assert (await in_db(newest_error, session))["data"]["reason"] == "equal_calls"


async def test_equal_calls_of_one_answer_count_as_well(
    alice: User, session: Session, project: Project, requests: Requests
) -> None:
    await limit(project, equal_calls=4)
    await in_db(prompt, alice, session, script([LS] * 5, [{"text": "not reached"}]))
    await drain(session)
    assert session.outcome_reason["reason"] == "equal_calls"
    assert {part["state"]["status"] for part in await in_db(parts_of, session, "tool")} == {"error"}
    assert len(requests) == 1


@pytest.mark.parametrize(("count", "queries"), [(0, 0), (1, 4), (9, 4)])
async def test_many_calls_are_counted_as_fast_as_one(
    count: int, queries: int, alice: User, session: Session
) -> None:
    steps = [{"tool": "glob", "input": {"pattern": f"{n}*"}} for n in range(9)]
    await in_db(prompt, alice, session, script(steps, [{"text": "done"}]))
    await drain(session)
    calls = [PART.validate_python(data) for data in await in_db(parts_of, session, "tool")]
    with recorded_statements() as statements:
        assert await in_db(reached_equal_calls, session, calls[:count]) is None
    assert len(statements) == queries


async def test_a_turn_that_ends_at_a_limit_leaves_nothing_open(
    alice: User, session: Session, project: Project
) -> None:
    run = {"tool": "bash", "input": {"command": "date"}}
    calls = [run, run, run, task(script([{"text": "the report"}]))]
    await in_db(prompt, alice, session, script(calls))
    await drain(session)
    requests = session.permissions.filter(status="pending")
    first = await in_db(requests.filter(permission="bash").first)
    assert await in_db(requests.count) == 3
    # Somebody lowers the limit while the turn waits.
    project.config = {"limits": {"equal_calls": 2}}
    await in_db(project.save)
    access = await in_db(session_access, alice, session)
    await in_db(reply_permission, access, first, reply="once")
    await drain(session)
    assert session.outcome_reason["reason"] == "equal_calls"
    assert not await in_db(requests.exists)
    child = await in_db(session.children.get)
    await drain(child)
    assert (child.state, child.outcome) == ("idle", "stopped")


async def test_a_turn_ends_at_its_limit_of_steps_and_goes_on_when_somebody_says_so(
    alice: User, session: Session, project: Project, requests: Requests
) -> None:
    await limit(project, turn_steps=6)
    steps = [[{"tool": "glob", "input": {"pattern": f"{n}*"}}] for n in range(20)]
    await in_db(prompt, alice, session, script(*steps))
    await drain(session)
    assert (session.state, session.outcome, len(requests)) == ("idle", "stopped", 6)
    assert session.outcome_reason == {"reason": "step_limit", "values": {"limit": 6}}
    rows = Event.objects.filter(session=session, type="session.status").order_by("seq")
    last = (await in_db(list, rows))[-1].data
    assert (last["reason"], last["values"], last["detail"]) == ("step_limit", {"limit": 6}, "")
    assert await in_db(go_on_after_fault, await in_db(session_access, alice, session))
    await drain(session)
    assert len(requests) == 12
    # What was done before the limit is read by the model.
    answers = [one for one in requests[6].messages if isinstance(one, AssistantMessage)]
    assert len(answers) == 6


async def test_a_turn_ends_at_its_cost_limit_and_the_next_message_goes_on(
    alice: User, session: Session, project: Project, requests: Requests
) -> None:
    await limit(project, turn_cost="0.25")
    prices = {"inline": {"cost": {"input": 0, "output": 100}}}
    project.config["provider"] = {"demo": {"models": prices}}
    await in_db(project.save)
    usage = {"input": 10, "output": 1_000}
    steps = [
        {"events": [{"tool": "glob", "input": {"pattern": f"{n}*"}}], "usage": usage}
        for n in range(20)
    ]
    await in_db(prompt, alice, session, script(turns=[steps] * 9))
    await drain(session)
    assert (session.state, session.outcome, len(requests)) == ("idle", "stopped", 3)
    values = {"spent": {"usd": "0.3000000000"}, "limit": {"usd": "0.25"}}
    assert session.outcome_reason == {"reason": "turn_cost", "values": values}
    await in_db(prompt, alice, session, script(turns=[steps] * 9))
    await drain(session)
    assert len(requests) == 6


async def test_there_is_a_limit_of_steps_without_a_setting(
    alice: User,
    session: Session,
    project: Project,
    requests: Requests,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert turn_limits.DEFAULT_TURN_STEPS == 200
    monkeypatch.setattr(turn_limits, "DEFAULT_TURN_STEPS", 30)
    await limit(project)
    steps = [[{"tool": "todoread", "input": {}}]] * 24
    steps += [[{"tool": "glob", "input": {"pattern": f"{n}*"}}] for n in range(9)]
    await in_db(prompt, alice, session, script(*steps))
    await drain(session)
    assert session.outcome_reason == {"reason": "step_limit", "values": {"limit": 30}}
    assert len(requests) == 30


async def test_calls_that_cannot_be_read_end_at_the_limit_of_steps(
    alice: User, session: Session, project: Project, requests: Requests
) -> None:
    await limit(project, turn_steps=5)
    steps = [[{"tool": "list", "raw": "{" * (n + 1)}] for n in range(9)]
    await in_db(prompt, alice, session, script(*steps))
    await drain(session)
    assert session.outcome_reason["reason"] == "step_limit"
    assert len(requests) == 5


@pytest.mark.parametrize("config", [{}, {"skills": {"urls": ["https://skills.example.com"]}}])
async def test_a_turn_that_ends_its_workers_is_given_up_after_three(
    config: dict[str, Any], alice: User, session: Session, project: Project
) -> None:
    # With skills of the web the workers are lost before there is an answer.
    project.config = config
    await in_db(project.save)
    await in_db(prompt, alice, session, script([LS], [{"text": "done"}]))
    taken = 0
    while await in_db(take_up_and_begin, session.pk) is not None:
        taken += 1
        await in_db(expire, session)
        assert taken < MANY
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome) == ("idle", "interrupted")
    assert taken == 3
    run = await in_db(Run.objects.get, session=session)
    assert (run.owner, run.lease_until, run.recoveries) == ("", None, 0)


async def test_a_turn_that_ends_its_workers_as_it_begins_is_given_up_as_well(
    alice: User, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def die(*_: object, **__: object) -> None:
        raise Killed

    await in_db(prompt, alice, session, script([{"text": "said before"}]))
    await drain(session)
    await in_db(prompt, alice, session, script([{"text": "done"}]))
    await in_db(session.refresh_from_db)
    monkeypatch.setattr(advance, "next_turn", die)
    lost = 0
    while session.state == "busy" and lost < MANY:
        try:
            await drain(session)
        except Killed:
            lost += 1
            await in_db(expire, session)
    assert (session.state, session.outcome, lost) == ("idle", "interrupted", 3)
    # The prompt waits for a person to send it again, and nobody is told that another has failed.
    assert await in_db(session.inputs.filter(status="admitted").count) == 1
    assert await in_db(session.messages.count) == 2
