"""Plays a conversation through providers.llm and keeps what was said."""

from __future__ import annotations

import base64
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from providers import llm
from providers.llm import events as e
from providers.llm import messages as m
from providers.llm.facts import Capabilities, Limit
from providers.llm.secret import Secret

KEY = "very-secret-key-4711"
READ = m.ToolDefinition(
    "read", "Read a file.", {"type": "object", "properties": {"filePath": {"type": "string"}}}
)
PICTURE = m.File("image/png", "data:image/png;base64," + base64.b64encode(b"png").decode())
PDF = m.File(
    "application/pdf", "data:application/pdf;base64," + base64.b64encode(b"pdf").decode(), "doc.pdf"
)


def a_model(npm: str, model_id: str, provider: str, **fields: Any) -> m.ResolvedModel:
    kinds = frozenset({"text", "image", "pdf"})
    known: dict[str, Any] = {
        "base_url": None,
        "api_key": Secret(KEY),
        "limit": Limit(200_000, 64_000),
        "capabilities": Capabilities(temperature=True, reasoning=True, input=kinds),
    }
    ref = m.ModelRef(provider, model_id)
    return m.ResolvedModel(ref=ref, npm=npm, api_model=model_id, name="Test", **{**known, **fields})


def a_request(model: m.ResolvedModel, *messages: m.Message | str, **fields: Any) -> Any:
    given = tuple(
        m.UserMessage((m.Text(one),)) if isinstance(one, str) else one for one in messages
    )
    known: dict[str, Any] = {"system": ("You are helpful.",), "tools": (READ,)}
    return m.ProviderRequest(model=model, messages=given, session_id="ses_1", **{**known, **fields})


@dataclass
class Reply:
    parts: list[m.AssistantContent] = field(default_factory=list)
    end: e.Finished | e.Failed | None = None

    @property
    def message(self) -> m.AssistantMessage:
        return m.AssistantMessage(tuple(self.parts))

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, m.Text))

    @property
    def calls(self) -> list[m.ToolCall]:
        return [part for part in self.parts if isinstance(part, m.ToolCall)]

    @property
    def finished(self) -> e.Finished:
        assert isinstance(self.end, e.Finished), self.end
        return self.end

    @property
    def failed(self) -> e.Failed:
        assert isinstance(self.end, e.Failed), self.end
        return self.end


async def ask(request: m.ProviderRequest, transport: httpx.AsyncBaseTransport) -> Reply:
    said, text, thought = Reply(), "", ""
    async with aclosing(llm.stream(request, transport)) as events:
        async for event in events:
            assert said.end is None
            match event:
                case e.TextDelta():
                    text += event.text
                case e.TextEnd():
                    said.parts.append(m.Text(text, event.metadata))
                    text = ""
                case e.ReasoningDelta():
                    thought += event.text
                case e.ReasoningEnd():
                    said.parts.append(m.Reasoning(thought, event.metadata))
                    thought = ""
                case e.ToolCallEnd():
                    call = m.ToolCall(event.id, event.name, event.arguments or {}, event.metadata)
                    said.parts.append(call)
                case e.Finished() | e.Failed():
                    said.end = event
    return said


def after(request: Any, said: Reply, *messages: m.Message) -> Any:
    return replace(request, messages=(*request.messages, said.message, *messages))


def result(call: m.ToolCall, output: str, **fields: Any) -> m.ToolResultMessage:
    return m.ToolResultMessage(call.id, call.name, output, **fields)
