"""Talks to a played vendor as the runner does: events in, the next request's messages out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from providers.llm import events as ev
from providers.llm import stream
from providers.llm.facts import Capabilities, Limit
from providers.llm.messages import (
    AssistantContent,
    AssistantMessage,
    File,
    Message,
    ModelRef,
    ProviderRequest,
    Reasoning,
    ResolvedModel,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)
from providers.llm.secret import Secret

PNG = File("image/png", "data:image/png;base64,iVBORw0KGgo=", "pic.png")
PDF = File("application/pdf", "data:application/pdf;base64,JVBERi0=", "doc.pdf")
READ = ToolDefinition(
    "read",
    "Reads a file.",
    {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1},
            "limit": {"type": "integer", "exclusiveMinimum": 0},
        },
        "required": ["path"],
        "additionalProperties": False,
    },
)
EVERYTHING = frozenset({"text", "image", "pdf"})


def model(npm: str, api_model: str, provider: str = "p", **fields: Any) -> ResolvedModel:
    capabilities = Capabilities(temperature=True, reasoning=True, attachment=True, input=EVERYTHING)
    return ResolvedModel(
        **{
            "ref": ModelRef(provider, api_model),
            "npm": npm,
            "api_model": api_model,
            "base_url": None,
            "api_key": Secret("key-of-tests"),
            "name": api_model,
            "limit": Limit(100_000, 8_000),
            "capabilities": capabilities,
            **fields,
        }
    )


def request(
    model: ResolvedModel,
    *messages: Message | str,
    tools: Iterable[ToolDefinition] = (READ,),
    **more: Any,
) -> ProviderRequest:
    said = tuple(UserMessage((Text(m),)) if isinstance(m, str) else m for m in messages)
    return ProviderRequest(
        model=model,
        system=("You help.",),
        messages=said,
        tools=tuple(tools),
        session_id="ses_1",
        **more,
    )


@dataclass
class Answer:
    """What came, and what is sent back of it."""

    events: list[ev.StreamEvent] = field(default_factory=list)

    @property
    def end(self) -> ev.StreamEvent:
        return self.events[-1]

    @property
    def finished(self) -> ev.Finished:
        assert isinstance(self.end, ev.Finished), self.end
        return self.end

    @property
    def failed(self) -> ev.Failed:
        assert isinstance(self.end, ev.Failed), self.end
        return self.end

    @property
    def text(self) -> str:
        return "".join(e.text for e in self.events if isinstance(e, ev.TextDelta))

    @property
    def calls(self) -> list[ev.ToolCallEnd]:
        return [e for e in self.events if isinstance(e, ev.ToolCallEnd)]

    @property
    def message(self) -> AssistantMessage:
        content: list[AssistantContent] = []
        text = ""
        for event in self.events:
            match event:
                case ev.TextDelta() | ev.ReasoningDelta():
                    text += event.text
                case ev.TextEnd():
                    content.append(Text(text, event.metadata))
                    text = ""
                case ev.ReasoningEnd():
                    content.append(Reasoning(text, event.metadata))
                    text = ""
                case ev.ToolCallEnd():
                    arguments = event.arguments or {}
                    content.append(ToolCall(event.id, event.name, arguments, event.metadata))
        return AssistantMessage(tuple(content))


async def ask(asked: ProviderRequest, transport: httpx.AsyncBaseTransport) -> Answer:
    return Answer([event async for event in stream(asked, transport)])


def go_on(
    asked: ProviderRequest, answer: Answer, *more: Message | str, **result: Any
) -> ProviderRequest:
    """The next request: the answer, results of its calls, and what is said then."""
    results = [
        ToolResultMessage(call.id, call.name, **{"output": "alpha", **result})
        for call in answer.calls
    ]
    said = tuple(UserMessage((Text(m),)) if isinstance(m, str) else m for m in more)
    return replace(asked, messages=(*asked.messages, answer.message, *results, *said))


def sse(*frames: Any, cut: bool = False) -> httpx.Response:
    """An answer of server-sent events; a cut one ends in an error of the connection."""
    blocks = [f"data: {f if isinstance(f, str) else json.dumps(f)}\n\n".encode() for f in frames]

    async def body() -> Any:
        for block in blocks:
            yield block
        if cut:
            raise httpx.ReadError("gone")

    return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=body())
