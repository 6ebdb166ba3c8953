from __future__ import annotations

import asyncio
from pathlib import Path

from opencode_web.lib.db import in_db
from providers.llm.messages import ProviderRequest, ToolResultMessage, UserMessage
from sessions.models import Message, Part, Session
from sessions.runner import run_session
from teams.models import User
from tests.sessions.factories import prompt, script
from tests.sessions.runner.drains import allow_bash, until


async def test_fr_04_each_answer_is_one_stream_of_the_history_as_it_is_then(
    alice: User, session: Session, requests: list[ProviderRequest]
) -> None:
    call = {"tool": "list", "input": {}}
    steps = script([{"delay_ms": 300}, call], [{"text": "not reached"}])
    await in_db(prompt, alice, session, steps)
    drain = asyncio.create_task(run_session(session.pk))
    await until(lambda: Message.objects.filter(session=session, role="assistant").exists())
    await in_db(prompt, alice, session, script([{"text": "seen"}]), delivery="steer")
    await drain
    answers = Message.objects.filter(session=session, role="assistant")
    assert len(requests) == await in_db(answers.count) == 2
    first, second = (request.messages for request in requests)
    assert [type(message) for message in first] == [UserMessage]
    # The result of the call, and what somebody has said since.
    assert second[: len(first)] == first
    result, steer = second[-2:]
    assert isinstance(result, ToolResultMessage)
    assert isinstance(steer, UserMessage)


async def test_fr_05_fr_06_history_has_a_preview_and_a_file_has_the_whole_output(
    alice: User, session: Session, requests: list[ProviderRequest]
) -> None:
    await in_db(allow_bash, session)
    call = {"tool": "bash", "input": {"command": "seq 1 20000"}}
    await in_db(prompt, alice, session, script([call], [{"text": "counted"}]))
    await run_session(session.pk)
    part = await in_db(Part.objects.get, session=session, type="tool")
    state = part.data["state"]
    assert state["metadata"]["truncated"] is True
    assert len(state["output"]) < 55_000
    whole = Path(state["metadata"]["outputPath"]).read_text().splitlines()
    assert whole == [str(number) for number in range(1, 20_001)]
    # The model reads what history has.
    (result,) = [one for one in requests[1].messages if isinstance(one, ToolResultMessage)]
    assert result.output == state["output"]
