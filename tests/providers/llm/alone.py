"""Run by an interpreter that has nothing but the wheel: a tool turn over one wire.

usage: alone.py NPM BASE_URL
"""

from __future__ import annotations

import asyncio
import sys

import httpx
from opencode_web_llm import stream
from opencode_web_llm.events import Failed, TextDelta, ToolCallEnd
from opencode_web_llm.facts import Capabilities, Limit
from opencode_web_llm.messages import (
    AssistantMessage,
    Message,
    ModelRef,
    ProviderRequest,
    ResolvedModel,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)
from opencode_web_llm.secret import Secret

WHERE = {"region": "us-east-1", "project": "p", "location": "us-central1"}
TOOL = ToolDefinition("add", "Adds.", {"type": "object", "properties": {"a": {"type": "integer"}}})


async def main(npm: str, base_url: str) -> None:
    model = ResolvedModel(
        ref=ModelRef("any", "model"),
        npm=npm,
        api_model="model",
        base_url=base_url,
        api_key=Secret("key-of-tests"),
        name="Any",
        limit=Limit(output=4_000),
        capabilities=Capabilities(reasoning=True),
        connection=WHERE,
    )
    messages: tuple[Message, ...] = (UserMessage((Text("Add."),)),)
    for _ in range(2):
        request = ProviderRequest(model, ("Be short.",), messages, (TOOL,), "ses_1")
        said: list[Text | ToolCall] = []
        async with httpx.AsyncHTTPTransport() as transport:
            async for event in stream(request, transport):
                match event:
                    case TextDelta(text):
                        said.append(Text(text))
                    case ToolCallEnd():
                        said.append(
                            ToolCall(event.id, event.name, event.arguments or {}, event.metadata)
                        )
                    case Failed(error):
                        raise error
        calls = [part for part in said if isinstance(part, ToolCall)]
        results = [ToolResultMessage(call.id, call.name, "3") for call in calls]
        messages = (*messages, AssistantMessage(tuple(said)), *results)
        sys.stdout.write(f"{''.join(p.text for p in said if isinstance(p, Text))}|{len(calls)}\n")


asyncio.run(main(*sys.argv[1:]))
