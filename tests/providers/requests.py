from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from providers.kinds import ProviderKind
from providers.llm.events import Failed, Finished, ReasoningDelta, StreamEvent, TextDelta
from providers.llm.facts import Capabilities, Limit
from providers.llm.messages import (
    Message,
    ModelRef,
    ProviderRequest,
    ResolvedModel,
    Text,
    Timeouts,
    ToolDefinition,
    UserMessage,
)
from providers.llm.secret import Secret
from providers.stream import stream

KEY = "very-secret-key-4711"
READ = ToolDefinition(
    "read",
    "Read a file.",
    {"type": "object", "properties": {"filePath": {"type": "string"}}, "required": ["filePath"]},
)


NPM = {
    ProviderKind.OPENAI: "@ai-sdk/openai",
    ProviderKind.ANTHROPIC: "@ai-sdk/anthropic",
    ProviderKind.COMPATIBLE: "@ai-sdk/openai-compatible",
    ProviderKind.SCRIPTED: "scripted",
}


def make_model(
    kind: ProviderKind = ProviderKind.COMPATIBLE, *, base_url: str | None = None, **fields: Any
) -> ResolvedModel:
    fields.setdefault("api_model", "test-model")
    fields.setdefault("limit", Limit(context=100_000, output=4_000))
    fields.setdefault("capabilities", Capabilities(input=frozenset({"text", "image"})))
    if "idle_timeout_s" in fields:
        fields["timeouts"] = Timeouts(idle=fields.pop("idle_timeout_s"))
    return ResolvedModel(
        ref=fields.pop("ref", None) or ModelRef("acme", fields["api_model"]),
        npm=fields.pop("npm", NPM[kind]),
        base_url=base_url,
        api_key=Secret(fields.pop("key", KEY)),
        name="Test model",
        **fields,
    )


def make_request(model: ResolvedModel, *messages: Message | str, **fields: Any) -> ProviderRequest:
    given = tuple(UserMessage((Text(m),)) if isinstance(m, str) else m for m in messages)
    return ProviderRequest(
        model=model,
        system=fields.pop("system", ("You are helpful.",)),
        messages=given or (UserMessage((Text("Hello"),)),),
        tools=fields.pop("tools", ()),
        session_id="ses_1",
        **fields,
    )


async def collect(request: ProviderRequest) -> list[StreamEvent]:
    async with aclosing(stream(request)) as events:
        return [event async for event in events]


def text_of(events: list[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def reasoning_of(events: list[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, ReasoningDelta))


def end_of(events: list[StreamEvent]) -> Finished | Failed:
    ends = [event for event in events if isinstance(event, Finished | Failed)]
    assert len(ends) == 1
    assert events[-1] is ends[0]
    return ends[0]


async def anext_text(events: AsyncIterator[StreamEvent]) -> str:
    async for event in events:
        if isinstance(event, TextDelta):
            return event.text
    raise AssertionError("no text came")
