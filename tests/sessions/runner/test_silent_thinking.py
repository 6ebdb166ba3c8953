from __future__ import annotations

from typing import Any

import pytest

from opencode_web.lib.db import in_db
from providers.llm.events import (
    Finished,
    FinishReason,
    ReasoningDelta,
    ReasoningEnd,
    TextDelta,
    TextEnd,
    ToolCallEnd,
    ToolCallStart,
)
from providers.llm.messages import AssistantMessage, Reasoning, Text, ToolCall, Usage
from sessions.models import Session
from teams.models import User
from tests.sessions.factories import prompt
from tests.sessions.runner.drains import drain, parts_of
from tests.sessions.runner.test_retries import play as play

pytestmark = pytest.mark.any_database

SIGNED = {"anthropic": {"signature": "sig-1"}}
REDACTED = {"anthropic": {"redactedData": "opaque"}}
SEALED = {"google": {"thoughtSignature": "c2ln"}}
CALL = {"id": "call_1", "name": "glob", "index": 0}


async def test_what_a_model_wants_back_comes_back_to_it_exactly(
    alice: User, session: Session, play: Any
) -> None:
    first = [
        ReasoningDelta("Hm."),
        ReasoningEnd(SIGNED),
        ReasoningDelta(""),
        ReasoningEnd(REDACTED),
        TextDelta("Looking."),
        TextEnd(SEALED),
        ToolCallStart(**CALL),
        ToolCallEnd(**CALL, arguments={"pattern": "*"}, raw="{}", metadata=SEALED),
        Finished(FinishReason.TOOL_CALLS, Usage(1, 1)),
    ]
    last = [TextDelta("Done."), Finished(FinishReason.STOP, Usage(1, 1))]
    provider = play(first, last)
    await in_db(prompt, alice, session, "go")
    await drain(session)
    said = next(m for m in provider.requests[1].messages if isinstance(m, AssistantMessage))
    assert said.content == (
        Reasoning("Hm.", SIGNED),
        Reasoning("", REDACTED),
        Text("Looking.", SEALED),
        ToolCall("call_1", "glob", {"pattern": "*"}, SEALED),
    )
    thoughts = await in_db(parts_of, session, "reasoning")
    assert [part["text"] for part in thoughts] == ["Hm.", ""]
