from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opencode_web.lib.json import JsonObject
from opencode_web.lib.plugins.values import Place
from tools.base import ToolResult
from tools.context import (
    InnerCall,
    InstructionText,
    ModelAnswer,
    ModelRequest,
    PermissionAsk,
    Question,
    Report,
    ReviewDraft,
    SkillText,
    Subtask,
    Suspended,
)
from tools.errors import StoppedByPerson
from tools.files.file_change import digest_of
from tools.formatters.spec import Formatter
from tools.limits import ResultLimits
from tools.lsp.workspace import Workspace
from tools.permissions.defaults import DEFAULTS
from tools.permissions.rules import Action, evaluate
from tools.redaction import NO_SECRETS, Redactor
from tools.registry import all_tools, execute
from tools.sandbox.base import Command, Exit, OnOutput, Sandbox
from tools.search.engine import Engine
from tools.todo import Todo


@dataclass
class FakeSandbox:
    """Plays a fixed output and exit code, and remembers the commands."""

    output: bytes = b""
    exit: Exit = field(default_factory=lambda: Exit(code=0, timed_out=False, duration_s=0.0))
    name: str = "fake"
    isolated: bool = True
    redactor: Redactor = NO_SECRETS
    refusal: str | None = None
    commands: list[Command] = field(default_factory=list)

    async def run(self, command: Command, *, on_output: OnOutput) -> Exit:
        self.commands.append(command)
        if self.output:
            await on_output(self.output)
        await asyncio.sleep(0)
        return self.exit


@dataclass
class FakeFiles:
    """What a session knows of files, kept in memory; `edited` is what the clients were told."""

    digests: dict[str, str] = field(default_factory=dict)
    edited: list[str] = field(default_factory=list)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def changing(self) -> asyncio.Lock:
        return self.lock

    async def seen(self, key: str) -> str | None:
        return self.digests.get(key)

    async def mark_seen(self, key: str, digest: str) -> None:
        self.digests[key] = digest

    async def mark_changed(
        self, digests: Mapping[str, str | None], *, new: Collection[str] = ()
    ) -> None:
        self.edited.extend(digests)
        for key, digest in digests.items():
            self.digests.pop(key, None)
            if digest is not None:
                self.digests[key] = digest


@dataclass
class FakeToolContext:
    """A call's context over real folders. `on_ask` may raise, or act before the effect."""

    worktree: Path
    output_dir: Path
    sandbox: Sandbox = field(default_factory=FakeSandbox)
    files: FakeFiles = field(default_factory=FakeFiles)
    on_ask: Callable[[PermissionAsk], None] = lambda ask: None
    directory: Path = None  # type: ignore[assignment]  # the worktree, unless given
    session_id: str = "ses_test"
    message_id: str = "msg_test"
    call_id: str = "call_test"
    agent: str = "build"
    plan_path: str = ".opencode/plans/1-calm-otter.md"
    limits: ResultLimits = field(default_factory=ResultLimits)
    engine: Engine | None = None
    language_servers: Workspace | None = None
    formatters: Sequence[Formatter] = ()
    outputs_above: list[Path] = field(default_factory=list)
    instructions: list[InstructionText] = field(default_factory=list)
    asks: list[PermissionAsk] = field(default_factory=list)
    # What a person answers to the questions; None suspends the call.
    answers: list[list[str]] | None = None
    questions: list[Question] = field(default_factory=list)
    model_says: str = ""
    model_requests: list[ModelRequest] = field(default_factory=list)
    updates: list[JsonObject] = field(default_factory=list)
    subtasks: list[Subtask] = field(default_factory=list)
    known_skills: list[SkillText] = field(default_factory=list)
    todos: list[Todo] = field(default_factory=list)
    reviews: list[ReviewDraft] = field(default_factory=list)
    inner_calls: list[InnerCall] = field(default_factory=list)
    # Who ends whatever can be ended, at once.
    stopped_by: str = ""

    def __post_init__(self) -> None:
        self.directory = self.directory or self.worktree

    @property
    def place(self) -> Place:
        return Place("team_test", "prj_test", self.directory, self.worktree)

    async def ask(self, ask: PermissionAsk) -> None:
        self.asks.append(ask)
        self.on_ask(ask)

    async def confirm(self, ask: PermissionAsk) -> None:
        await self.ask(ask)

    async def shell_env(self, folder: Path) -> dict[str, str]:
        return {}

    async def unallowed(self, permission: str, patterns: Sequence[str]) -> list[str]:
        return [one for one in patterns if evaluate(permission, one, DEFAULTS) is not Action.ALLOW]

    async def ask_model(self, request: ModelRequest) -> ModelAnswer:
        self.model_requests.append(request)
        return ModelAnswer(self.model_says, "model")

    async def has_asked_user(self) -> bool:
        return bool(self.questions)

    async def ask_user(self, questions: Sequence[Question], *, number: int = 0) -> list[list[str]]:
        self.questions.extend(questions)
        if self.answers is None:
            raise Suspended
        return self.answers

    @property
    def output_dirs(self) -> Sequence[Path]:
        return [self.output_dir, *self.outputs_above]

    async def nested_instructions(self, file: Path) -> Sequence[InstructionText]:
        return self.instructions

    async def search_engine(self) -> Engine | None:
        return self.engine

    async def skills(self) -> Sequence[SkillText]:
        return self.known_skills

    async def spawn(self, task: Subtask) -> Report:
        self.subtasks.append(task)
        return Report("ses_child", f"did {task.prompt}", {"sessionId": "ses_child"})

    async def begin_calls(self, calls: Sequence[InnerCall]) -> None:
        self.inner_calls.extend(calls)

    async def post_review(self, review: ReviewDraft) -> str:
        self.reviews.append(review)
        return "#3"

    async def write_todos(self, todos: Sequence[Todo]) -> None:
        self.todos = list(todos)

    async def read_todos(self) -> list[Todo]:
        return self.todos

    @asynccontextmanager
    async def stoppable(self) -> AsyncIterator[None]:
        if self.stopped_by:
            raise StoppedByPerson(self.stopped_by)
        yield

    async def progress(
        self, *, title: str | None = None, metadata: JsonObject | None = None
    ) -> None:
        self.updates.append(metadata or {})

    async def know(self, *names: str) -> None:
        """Let the session have read these files."""
        for name in names:
            content = (self.worktree / name).read_bytes()
            await self.files.mark_seen(name, digest_of(content))

    async def call(self, tool: str, **arguments: Any) -> ToolResult:
        return await execute(all_tools()[tool], arguments, self)
