from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from opencode_web.lib.json import JsonObject
from opencode_web.lib.plugins.values import Place
from tools.formatters.spec import Formatter
from tools.limits import ResultLimits
from tools.lsp.workspace import Workspace
from tools.permissions.rules import Subject
from tools.sandbox.base import Sandbox
from tools.search.engine import Engine
from tools.todo import Todo


@dataclass(frozen=True)
class PermissionAsk:
    """What a call wants to do. `always` are the patterns that an answer "always" remembers.

    Rules are matched against `subjects` where there are any, else against `patterns`, which people
    see. `opaque`: nobody can tell what it does, so no answer that was saved covers it. `call_id` is
    another call of the same answer to ask for: the reply holds for all calls that name it.
    `each`: an answer holds only for an ask with the same `metadata`, of several that a call makes.
    """

    permission: str
    patterns: tuple[str, ...]
    always: tuple[str, ...] = ("*",)
    metadata: JsonObject = field(default_factory=dict)
    subjects: tuple[Subject, ...] = ()
    opaque: bool = False
    call_id: str = ""
    each: bool = False


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
class Picture:
    """A picture that a model is shown."""

    mime: str
    data_url: str


@dataclass(frozen=True)
class ModelMessage:
    """One of a conversation with a model: texts, and pictures as base64 data: URLs."""

    role: Literal["user", "assistant"]
    content: tuple[str | Picture, ...]


@dataclass(frozen=True)
class ModelRequest:
    """What a program asks a model. Nothing of it is a person's.

    `hints` are parts of names of models, the best first; what they say counts more than `small`.
    """

    program: str
    system: str
    messages: tuple[ModelMessage, ...]
    max_tokens: int
    temperature: float | None = None
    hints: tuple[str, ...] = ()
    small: bool = False


@dataclass(frozen=True)
class ModelAnswer:
    """`model` is what its provider calls it. `cut`: it was not done, and had no tokens left."""

    text: str
    model: str
    cut: bool = False


@dataclass(frozen=True)
class InnerCall:
    """One call of a batch. With a `refusal` it is not run, and ends with these words."""

    tool: str
    arguments: JsonObject
    refusal: str = ""


@dataclass(frozen=True)
class Subtask:
    """Work for a sub-agent. `task_id` is the session of an earlier one that shall go on."""

    description: str
    prompt: str
    agent: str
    task_id: str | None = None


@dataclass(frozen=True)
class InstructionText:
    """An instruction file. `text` is ready for the model: it says whose words it holds."""

    path: Path
    text: str


@dataclass(frozen=True)
class SkillText:
    """A skill that can be loaded. `folder` has its other files; None when it is a text alone."""

    name: str
    text: str
    folder: Path | None = None


@dataclass(frozen=True)
class Report:
    """What a sub-agent came to. `metadata` is shown with the call."""

    session_id: str
    text: str
    metadata: JsonObject


@dataclass(frozen=True)
class ReviewComment:
    """What a review says of a line, or of all from `start_line` to it.

    `is_old`: of the file as it was before the pull request. `suggestion` is what the lines should
    be instead.
    """

    path: str
    line: int
    body: str
    start_line: int | None = None
    is_old: bool = False
    suggestion: str | None = None


@dataclass(frozen=True)
class ReviewDraft:
    """A review of the pull request that a session is about."""

    summary: str
    verdict: Literal["comment", "approve", "request_changes"]
    comments: tuple[ReviewComment, ...] = ()


SuspendedOn = Literal["person", "children"]


class Suspended(BaseException):
    """The call waits for the answer of a person or the end of its sub-agents.

    It is run again from its start afterwards; until then it holds nothing. A call that waits for
    sub-agents may have begun: it must find them again by its `call_id` and start none twice.
    Not an Exception: no tool may mistake it for a failure.
    """

    def __init__(self, *, on: SuspendedOn = "person") -> None:
        super().__init__(on)
        self.on = on


class FileLedger(Protocol):
    """What the session knows of the files of its worktree, by `Located.key`.

    A file may only be changed while it holds what the session has last read or written, so that
    nobody's work is lost. Digests are those of `tools.files.file_change.digest_of`.
    """

    def changing(self) -> AbstractAsyncContextManager[None]:
        """Hold it from the last look at `seen` to `mark_changed`: calls run side by side."""
        ...

    async def seen(self, key: str) -> str | None:
        """Returns: the digest of the content that the session knows."""
        ...

    async def mark_seen(self, key: str, digest: str) -> None:
        """Note what the model has been shown."""
        ...

    async def mark_changed(
        self, digests: Mapping[str, str | None], *, new: Collection[str] = ()
    ) -> None:
        """Note what the call wrote, None for a file that it removed, and tell the clients.

        `new` are the files that were not there before.
        """
        ...


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
    def place(self) -> Place:
        """The Location, for plugins that are installed beside the server."""
        ...

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
    def output_dirs(self) -> Sequence[Path]:
        """Those whose files may be read: `output_dir`, and those of the sessions above."""
        ...

    @property
    def limits(self) -> ResultLimits:
        """What the result of this call may be."""
        ...

    @property
    def sandbox(self) -> Sandbox: ...
    @property
    def files(self) -> FileLedger: ...

    @property
    def language_servers(self) -> Workspace | None:
        """The language servers of the session; None where there are none."""
        ...

    @property
    def formatters(self) -> Sequence[Formatter]:
        """What puts a file into its form after a change, in this order."""
        ...

    @property
    def plan_path(self) -> str:
        """Where the plan of this session is written, relative to `directory`."""
        ...

    async def ask(self, ask: PermissionAsk) -> None:
        """Return when the call is allowed.

        Raises: PermissionDenied (a rule), PermissionRejected (a person), Suspended (nobody has
        answered yet).
        """
        ...

    async def shell_env(self, folder: Path) -> Mapping[str, str]:
        """Return what is added to the environment of a command that is about to run in `folder`.

        Raises: ToolError when it must not run.
        """
        ...

    async def confirm(self, ask: PermissionAsk) -> None:
        """Like `ask`, for a call that asks more than once: for all but its last ask."""
        ...

    async def unallowed(self, permission: str, patterns: Sequence[str]) -> list[str]:
        """Return those of the patterns that are not allowed without asking. Asks nobody."""
        ...

    async def ask_user(self, questions: Sequence[Question], *, number: int = 0) -> list[list[str]]:
        """Return what a person answered to each question; an empty list is one left open.

        It is asked once for each call and `number`, so a tool must ask the same when it is run
        again.

        Raises: QuestionDismissed, Suspended (nobody has answered yet).
        """
        ...

    async def has_asked_user(self) -> bool:
        """Return whether `ask_user`, or an ask with `each`, has waited for a person in this call,
        also before it was run again."""
        ...

    async def ask_model(self, request: ModelRequest) -> ModelAnswer:
        """Have a model of the session answer. It is paid as the session's own requests are.

        Raises: ToolError where the session may not use a model now, or it does not answer.
        """
        ...

    async def post_review(self, review: ReviewDraft) -> str:
        """Have a review posted; once, however often the call is run.

        Returns: the pull request, such as "#12".
        Raises: ToolError where the session is not about one, or the review cannot be taken.
        """
        ...

    async def nested_instructions(self, file: Path) -> Sequence[InstructionText]:
        """Return instruction files beside and above a file that the model does not know yet, the
        nearest first. They count as known from now on."""
        ...

    async def search_engine(self) -> Engine | None:
        """Return the search engine of the team, or None while there is none."""
        ...

    async def skills(self) -> Sequence[SkillText]:
        """Return every skill of the Location and its team, by name."""
        ...

    async def spawn(self, task: Subtask) -> Report:
        """Have a sub-agent work on the task, with no more rights than this call's agent has.

        Raises: ToolError when it cannot be started or failed; Suspended while it works.
        """
        ...

    async def begin_calls(self, calls: Sequence[InnerCall]) -> None:
        """Have calls made beside this one, each as if the model had made it.

        They begin when this call is done. A call that is run again makes them once only.
        """
        ...

    async def write_todos(self, todos: Sequence[Todo]) -> None:
        """Replace the list that the agent keeps of its work in this session."""
        ...

    async def read_todos(self) -> list[Todo]:
        """Return that list; empty when there is none."""
        ...

    def stoppable(self) -> AbstractAsyncContextManager[None]:
        """While the block runs, a person can end it alone.

        Raises: StoppedByPerson out of the block, in which the cancel has done its work.
        """
        ...

    async def progress(
        self, *, title: str | None = None, metadata: JsonObject | None = None
    ) -> None:
        """Show the state of a running call. Lossy: may be dropped or throttled."""
        ...
