"""Who calls tools of MCP servers in tests."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from opencode_web.lib.json import JsonObject
from tools.context import Suspended
from tools.mcp.exchange import Exchange
from tools.mcp.sampling import rejected
from tools.mcp.tool_call import run_call


@dataclass
class Person:
    """Answers what a server asks; without an answer the call waits."""

    call_id: str = "call"
    has_asked: bool = False
    answer: JsonObject | None = None
    asked: list[JsonObject] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    # What a model answers; None for what is rejected.
    sampled: JsonObject | None = None
    # The model answers when this is set.
    answers: asyncio.Event = field(default_factory=asyncio.Event)
    samples: list[tuple[JsonObject, int]] = field(default_factory=list)
    # How many of them were stopped.
    stopped: int = 0

    async def show(self, progress: str) -> None:
        self.shown.append(progress)

    async def ask(self, params: JsonObject, asked: int) -> tuple[JsonObject, int]:
        self.asked.append(params)
        self.has_asked = True
        if self.answer is None:
            raise Suspended
        return self.answer, asked + 1

    async def sample(self, params: JsonObject, number: int) -> JsonObject:
        self.samples.append((params, number))
        try:
            await self.answers.wait()
        except asyncio.CancelledError:
            self.stopped += 1
            raise
        if self.sampled is None:
            raise rejected()
        return self.sampled


async def called(exchange: Exchange, person: Person, *, timeout_s: float = 5) -> JsonObject:
    async with asyncio.timeout(timeout_s) as limit:
        return await run_call(exchange, {"name": "a"}, person, limit)
