from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from opencode_web.lib.json import JsonObject
from tools.sandbox.base import Sandbox


@dataclass(frozen=True)
class PermissionAsk:
    """What a call wants to do. `always` are the patterns that an answer "always" remembers."""

    permission: str
    patterns: tuple[str, ...]
    always: tuple[str, ...] = ("*",)
    metadata: JsonObject = field(default_factory=dict)


@dataclass(frozen=True)
class QuestionOption:
    """One of the answers to choose from."""

    label: str
    description: str


@dataclass(frozen=True)
class Question:
    """What a call asks a person. Without options the answer is in their own words."""

    question: str
    header: str
    options: tuple[QuestionOption, ...]
    multiple: bool = False


@dataclass(frozen=True)
class Subtask:
    """Work for a sub-agent. `task_id` is the session of an earlier one that shall go on."""

    description: str
    prompt: str
    agent: str
    task_id: str | None = None


@dataclass(frozen=True)
class Report:
    """What a sub-agent came to. `metadata` is shown with the call."""

    session_id: str
    text: str
    metadata: JsonObject


ParkedOn = Literal["person", "children"]


class Parked(BaseException):
    """Somebody else has to go first: a person who answers, or sub-agents that come to an end.

    Then the call is run again from its start; until then nothing is held for it. A call that waits
    for sub-agents may have begun: it must find them again by its `call_id` and start none twice.
    Not an Exception: no tool may mistake it for a failure.
    """

    def __init__(self, *, on: ParkedOn = "person") -> None:
        super().__init__(on)
        self.on = on


class ToolContext(Protocol):
    """What one call may touch. Implemented by the runner.

    A tool must call `ask` before it has any effect, because the call may be executed again with
    the same `call_id` after an answer. A cancel arrives as `asyncio.CancelledError`.
    """

    @property
    def session_id(self) -> str: ...
    @property
    def message_id(self) -> str: ...
    @property
    def call_id(self) -> str: ...
    @property
    def agent(self) -> str: ...
    @property
    def worktree(self) -> Path:
        """Root of the Location; no path may leave it."""
        ...

    @property
    def directory(self) -> Path:
        """Where relative paths start; inside the worktree."""
        ...

    @property
    def output_dir(self) -> Path:
        """Managed Tool Output Files: readable by absolute path, never writable by a parameter."""
        ...

    @property
    def sandbox(self) -> Sandbox: ...

    async def ask(self, ask: PermissionAsk) -> None:
        """Return when the call is allowed.

        Raises: PermissionDenied (a rule), PermissionRejected (a person), Parked (nobody has
        answered yet).
        """
        ...

    async def ask_user(self, questions: Sequence[Question]) -> list[list[str]]:
        """Return what a person answered to each question; an empty list is one left open.

        It is asked once for each call, so a tool must ask the same when it is run again.

        Raises: QuestionDismissed, Parked (nobody has answered yet).
        """
        ...

    async def spawn(self, task: Subtask) -> Report:
        """Have a sub-agent work on the task, with no more rights than this call's agent has.

        Raises: ToolError when it cannot be started or failed; Parked while it works.
        """
        ...

    async def progress(
        self, *, title: str | None = None, metadata: JsonObject | None = None
    ) -> None:
        """Show the state of a running call. Lossy: may be dropped or throttled."""
        ...
