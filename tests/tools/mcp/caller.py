"""Who calls tools of MCP servers in tests."""

from __future__ import annotations

from dataclasses import dataclass, field

from opencode_web.lib.json import JsonObject
from tools.context import Suspended


@dataclass
class Person:
    """Answers what a server asks; without an answer the call waits."""

    call_id: str = "call"
    has_asked: bool = False
    answer: JsonObject | None = None
    asked: list[JsonObject] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    async def show(self, progress: str) -> None:
        self.shown.append(progress)

    async def ask(self, params: JsonObject, asked: int) -> tuple[JsonObject, int]:
        self.asked.append(params)
        self.has_asked = True
        if self.answer is None:
            raise Suspended
        return self.answer, asked + 1
