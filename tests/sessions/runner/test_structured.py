from __future__ import annotations

from typing import Any

import pytest

from opencode_web.lib.db import in_db
from sessions.models import Event, Message, Project, Session
from teams.models import User
from tests.sessions.factories import prompt, script
from tests.sessions.runner.drains import drain, parts_of

SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {"total": {"type": "integer"}},
    "required": ["total"],
}
GOOD = {"tool": "StructuredOutput", "input": {"total": 7}}
BAD = {"tool": "StructuredOutput", "input": {"total": "seven"}}
LS = {"tool": "list", "input": {}}
TALK = {"text": "It is seven."}


async def ask(alice: User, session: Session, *steps: list[dict[str, Any]], **more: Any) -> None:
    wanted = {"type": "json_schema", "schema": SCHEMA, **more}
    await in_db(prompt, alice, session, script(*steps), format=wanted)
    await drain(session)


def newest(session: Session) -> dict[str, Any]:
    data: dict[str, Any] = session.messages.latest("seq").data
    return data


def calls(session: Session) -> list[tuple[str, str]]:
    return [(part["tool"], part["state"]["status"]) for part in parts_of(session, "tool")]


async def test_the_answer_is_taken_from_the_call(
    alice: User, session: Session, requests: list[Any]
) -> None:
    await ask(alice, session, [LS], [TALK, GOOD], [{"text": "not reached"}])
    assert (session.state, session.outcome) == ("idle", "done")
    info = await in_db(newest, session)
    assert info["structured"] == {"total": 7}
    assert info["finish"] == "tool-calls"
    assert "error" not in info
    part = (await in_db(parts_of, session, "tool"))[-1]
    assert part["state"]["output"] == "Structured output captured successfully."
    assert [request.tool_choice for request in requests] == ["required", "required"]
    offered = requests[0].tools[-1]
    assert offered.name == "StructuredOutput"
    assert offered.schema == {key: value for key, value in SCHEMA.items() if key != "$schema"}


async def test_an_answer_that_does_not_fit_goes_back_to_the_model(
    alice: User, session: Session
) -> None:
    await ask(alice, session, [BAD], [GOOD])
    assert await in_db(calls, session) == [
        ("StructuredOutput", "error"),
        ("StructuredOutput", "completed"),
    ]
    first = (await in_db(parts_of, session, "tool"))[0]
    assert first["state"]["error"] == "answer['total']: 'seven' is not of type 'integer'"
    assert (await in_db(newest, session))["structured"] == {"total": 7}


async def test_text_instead_of_the_call_goes_back_to_the_model(
    alice: User, session: Session, requests: list[Any]
) -> None:
    await ask(alice, session, [TALK], [GOOD])
    assert session.outcome == "done"
    assert (await in_db(newest, session))["structured"] == {"total": 7}
    answer, result = requests[1].messages[-2:]
    assert [part.name for part in answer.content[1:]] == ["StructuredOutput"]
    assert result.is_error
    assert "by calling StructuredOutput" in result.output


@pytest.mark.parametrize(("more", "answers"), [({}, 3), ({"retryCount": 0}, 1)])
@pytest.mark.parametrize("step", [[TALK], [BAD], [BAD, LS]])
async def test_after_the_retries_it_is_an_error(
    more: dict[str, Any], answers: int, step: list[Any], alice: User, session: Session
) -> None:
    await ask(alice, session, step, step, step, step, **more)
    assert (session.state, session.outcome) == ("idle", "failed")
    info = await in_db(newest, session)
    assert info["error"]["name"] == "StructuredOutputError"
    assert info["error"]["data"]["retries"] == answers - 1
    assert info["time"]["completed"]
    answered = await in_db(session.messages.filter(role="assistant").count)
    assert answered == answers
    failed = await in_db(Event.objects.filter(session=session, type="session.error").count)
    assert failed == 1


async def test_what_is_called_beside_the_answer_is_not_run(
    alice: User, session: Session, project: Project
) -> None:
    await ask(alice, session, [{"tool": "bash", "input": {"command": "touch made"}}, GOOD])
    assert session.outcome == "done"
    assert await in_db(calls, session) == [("bash", "error"), ("StructuredOutput", "completed")]


async def test_the_retries_of_a_prompt_are_its_own(alice: User, session: Session) -> None:
    for _ in range(2):
        await ask(alice, session, [BAD], [BAD], [GOOD])
        assert session.outcome == "done"


async def test_the_last_step_offers_nothing_but_the_answer(
    alice: User, session: Session, project: Project, requests: list[Any]
) -> None:
    project.config = {"agent": {"build": {"steps": 2}}}
    await in_db(project.save)
    await ask(alice, session, [LS], [GOOD])
    assert session.outcome == "done"
    assert [tool.name for tool in requests[1].tools] == ["StructuredOutput"]
    assert requests[1].tool_choice == "required"


async def test_a_prompt_for_text_has_no_such_tool(
    alice: User, session: Session, requests: list[Any]
) -> None:
    await in_db(prompt, alice, session, script([GOOD], [TALK]), format={"type": "text"})
    await drain(session)
    assert "StructuredOutput" not in [tool.name for tool in requests[0].tools]
    assert await in_db(calls, session) == [("invalid", "completed")]


async def test_a_content_filter_is_an_error(alice: User, session: Session) -> None:
    step = {"events": [TALK], "finish": "content-filter"}
    await in_db(prompt, alice, session, script(turns=[[step]]))
    await drain(session)
    assert session.outcome == "failed"
    row = await in_db(Message.objects.get, session=session, role="assistant")
    assert row.data["error"]["name"] == "ContentFilterError"
