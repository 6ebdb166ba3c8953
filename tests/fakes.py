from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opencode_web.lib.json import JsonObject
from tools.base import ToolResult
from tools.context import Parked, PermissionAsk, Question, Report, Subtask
from tools.registry import all_tools, execute
from tools.sandbox.base import Command, Exit, OnOutput, Sandbox


@dataclass
class FakeSandbox:
    """Plays a fixed output and exit code, and remembers the commands."""

    output: bytes = b""
    exit: Exit = field(default_factory=lambda: Exit(code=0, timed_out=False, duration_s=0.0))
    name: str = "fake"
    isolated: bool = True
    refusal: str | None = None
    commands: list[Command] = field(default_factory=list)

    async def run(self, command: Command, *, on_output: OnOutput) -> Exit:
        self.commands.append(command)
        if self.output:
            await on_output(self.output)
        await asyncio.sleep(0)
        return self.exit


@dataclass
class FakeToolContext:
    """A call's context over real folders. `on_ask` may raise, or act before the effect."""

    worktree: Path
    output_dir: Path
    sandbox: Sandbox = field(default_factory=FakeSandbox)
    on_ask: Callable[[PermissionAsk], None] = lambda ask: None
    directory: Path = None  # type: ignore[assignment]  # the worktree, unless given
    session_id: str = "ses_test"
    message_id: str = "msg_test"
    call_id: str = "call_test"
    agent: str = "build"
    asks: list[PermissionAsk] = field(default_factory=list)
    # What a person answers to the questions; None parks the call.
    answers: list[list[str]] | None = None
    questions: list[Question] = field(default_factory=list)
    updates: list[JsonObject] = field(default_factory=list)
    subtasks: list[Subtask] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.directory = self.directory or self.worktree

    async def ask(self, ask: PermissionAsk) -> None:
        self.asks.append(ask)
        self.on_ask(ask)

    async def ask_user(self, questions: Sequence[Question]) -> list[list[str]]:
        self.questions.extend(questions)
        if self.answers is None:
            raise Parked
        return self.answers

    async def spawn(self, task: Subtask) -> Report:
        self.subtasks.append(task)
        return Report("ses_child", f"did {task.prompt}", {"sessionId": "ses_child"})

    async def progress(
        self, *, title: str | None = None, metadata: JsonObject | None = None
    ) -> None:
        self.updates.append(metadata or {})

    async def call(self, tool: str, **arguments: Any) -> ToolResult:
        return await execute(all_tools()[tool], arguments, self)
