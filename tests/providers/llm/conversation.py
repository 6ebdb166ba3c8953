from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import httpx

from providers.llm.events import Failed, Finished, StreamEvent
from providers.llm.facts import Limit
from providers.llm.messages import (
    AssistantMessage,
    Message,
    ProviderRequest,
    ResolvedModel,
    Text,
    ToolDefinition,
    UserMessage,
)
from providers.llm.secret import Secret
from tests.providers.llm import talk

KEY = "key-0123456789"
ALL = talk.EVERYTHING
READ = ToolDefinition(
    "read",
    "Read a file.",
    {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "filePath": {"type": "string", "minLength": 1},
            "limit": {"type": "integer", "minimum": 0},
        },
        "required": ["filePath"],
        "additionalProperties": False,
    },
)


def model_of(npm: str, provider_id: str, name: str, **fields: Any) -> ResolvedModel:
    fields = {"limit": Limit(400_000, 128_000), "api_key": Secret(KEY), **fields}
    return talk.model(npm, name, provider_id, **fields)


def request_of(
    model: ResolvedModel,
    *messages: Message | str,
    tools: Iterable[ToolDefinition] = (READ,),
    **fields: Any,
) -> ProviderRequest:
    given = tuple(UserMessage((Text(m),)) if isinstance(m, str) else m for m in messages)
    return ProviderRequest(
        model=model,
        system=("Be terse.", "Be kind."),
        messages=given or (UserMessage((Text("Hello"),)),),
        tools=tuple(tools),
        session_id="ses_1",
        **fields,
    )


async def play(request: ProviderRequest, server: httpx.AsyncBaseTransport) -> list[StreamEvent]:
    events = (await talk.ask(request, server)).events
    assert sum(isinstance(event, Finished | Failed) for event in events) == 1
    assert isinstance(events[-1], Finished | Failed)
    return events


async def answered(request: ProviderRequest, server: httpx.AsyncBaseTransport) -> AssistantMessage:
    """What a runner keeps of an answer."""
    events = await play(request, server)
    assert isinstance(events[-1], Finished), events[-1]
    return said(events)


def said(events: list[StreamEvent]) -> AssistantMessage:
    return talk.Answer(events).message
