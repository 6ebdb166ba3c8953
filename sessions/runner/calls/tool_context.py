"""What one tool call may touch: `tools.context.ToolContext` over the session's rows."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import cast

from django.db import transaction

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject
from sessions.config.web_search import find_engine
from sessions.events.live import Delta, publish_progress
from sessions.events.parts import PartTime, ToolPart, ToolRunning
from sessions.events.store import SessionGone, append, lock_session
from sessions.events.stored import StoredTool
from sessions.events.todos import TodoItem, TodosUpdated
from sessions.language_servers.running import workspace_of
from sessions.models import Session
from sessions.plan_file import plan_path
from sessions.rules.in_force import session_ruleset
from sessions.runner.calls.batches import begin_calls
from sessions.runner.calls.call_stops import stoppable
from sessions.runner.calls.model_requests import ask_model
from sessions.runner.calls.permission import decide
from sessions.runner.calls.plugin_calls import PluginCalls, noted
from sessions.runner.calls.pull_reviews import write_review
from sessions.runner.calls.questions import ask_person, was_asked
from sessions.runner.calls.step_setup import StepSetup
from sessions.runner.calls.subagents import spawn
from sessions.runner.context.installed import place_of
from sessions.runner.context.nested_instructions import nested_instructions
from sessions.runner.files.session_files import SessionFiles
from sessions.runner.log.lease import Lease
from sessions.runner.log.pulse import Row, pulse
from sessions.runner.log.settle import now_ms
from sessions.skills import session_skills
from sessions.todos import load_todos
from tools.base import ToolError
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
from tools.permissions.rules import Action, evaluate
from tools.sandbox.base import Sandbox
from tools.search.engine import Engine
from tools.todo import Todo, read_items

# Calls of these permissions change nothing, so no snapshot is taken for them.
READ_ONLY = frozenset(
    {
        *("read", "glob", "grep", "list", "lsp", "todowrite", "todoread"),
        "review",
        *("webfetch", "websearch", "codesearch"),
    }
)
PROGRESS_S = 0.1


def _clock_restarted(part: ToolPart) -> ToolPart:
    """A large worktree takes a moment to record, which is no time of the tool."""
    if not isinstance(part.state, ToolRunning):
        return part
    state = part.state.model_copy(update={"time": PartTime(start=now_ms())})
    return part.model_copy(update={"state": state})


class CallContext:
    """The context of one call. `before_change` is awaited before it may change files.

    `changing` is held by the one call of the step that changes files.
    """

    def __init__(
        self,
        *,
        lease: Lease,
        session: Session,
        part: ToolPart,
        agent: str,
        sandbox: Sandbox,
        changing: asyncio.Lock,
        step_setup: StepSetup,
        before_change: Callable[[], Awaitable[None]],
        plugins: PluginCalls,
    ) -> None:
        self.part = part
        self.session_id = session.pk
        self.message_id = part.messageID
        self.call_id = part.callID
        self.agent = agent
        self.place = place_of(session)
        self.worktree, self.directory = self.place.worktree, self.place.directory
        self.output_dirs = step_setup.output_dirs
        self.output_dir = step_setup.output_dirs[0]
        self.limits = step_setup.limits
        self.sandbox = sandbox
        self.plan_path = plan_path(session)
        self.files = SessionFiles(session, part.id, changing)
        self.formatters = step_setup.formatters
        self.language_servers = workspace_of(session, sandbox, step_setup.servers)
        self._claimed = step_setup.claimed
        self._setup = step_setup.setup
        self._lease = lease
        self._session = session
        self._before_change = before_change
        self._plugins = plugins
        self._shown_at = 0.0

    async def ask(self, ask: PermissionAsk) -> None:
        """See `ToolContext.ask`."""
        ask = self._clean(ask)
        verdict = await in_db(decide, self._lease, self.part, ask, self.agent)
        if verdict.refusal is not None:
            raise verdict.refusal
        assert verdict.part is not None
        self.part = verdict.part
        if ask.permission not in READ_ONLY:
            await self._before_change()
            self.part = _clock_restarted(self.part)

    async def shell_env(self, folder: Path) -> Mapping[str, str]:
        """See `ToolContext.shell_env`."""
        env, notes = await self._plugins.shell_env(self.part, folder)
        self.part = noted(self.part, notes)
        return env

    async def spawn(self, task: Subtask) -> Report:
        """See `ToolContext.spawn`."""
        self.part, report = await in_db(spawn, self._lease, self.part, task, self._setup.config)
        if report is None:
            raise Suspended(on="children")
        return report

    async def post_review(self, review: ReviewDraft) -> str:
        """See `ToolContext.post_review`."""
        return await in_db(write_review, self._lease, self.part, review)

    async def nested_instructions(self, file: Path) -> Sequence[InstructionText]:
        """See `ToolContext.nested_instructions`."""
        return await in_db(nested_instructions, self._session, self.worktree, file, self._claimed)

    async def search_engine(self) -> Engine | None:
        """See `ToolContext.search_engine`."""
        return await in_db(find_engine, self._session.project.team_id, self._setup.config)

    async def skills(self) -> Sequence[SkillText]:
        """See `ToolContext.skills`."""
        found = await in_db(session_skills, self._session, self._setup.config)
        return [SkillText(one.name, one.text, one.folder) for one in found.skills.values()]

    async def begin_calls(self, calls: Sequence[InnerCall]) -> None:
        """See `ToolContext.begin_calls`."""
        await in_db(begin_calls, self._lease, self.part, calls, self._setup)

    async def write_todos(self, todos: Sequence[Todo]) -> None:
        """See `ToolContext.write_todos`."""
        await in_db(write_todos, self._lease, todos)

    async def read_todos(self) -> list[Todo]:
        """See `ToolContext.read_todos`."""
        return await in_db(read_todos, self.session_id)

    async def ask_model(self, request: ModelRequest) -> ModelAnswer:
        """See `ToolContext.ask_model`."""
        self.part, answer = await ask_model(self._lease, self.part, request)
        if isinstance(answer, ToolError):
            raise answer
        return answer

    async def confirm(self, ask: PermissionAsk) -> None:
        """Return when the call may go on to its own asks. Raises: as `ask`."""
        ask = self._clean(ask)
        verdict = await in_db(decide, self._lease, self.part, ask, self.agent, begins=False)
        if verdict.refusal is not None:
            raise verdict.refusal

    def _clean(self, ask: PermissionAsk) -> PermissionAsk:
        """What people are shown of a call, a diff for example, is kept with the request."""
        shown = self.sandbox.redactor.json(ask.metadata)
        return replace(ask, metadata=shown)

    async def unallowed(self, permission: str, patterns: Sequence[str]) -> list[str]:
        """See `ToolContext.unallowed`."""
        return await in_db(unallowed, self.session_id, self.agent, permission, patterns)

    async def has_asked_user(self) -> bool:
        """See `ToolContext.has_asked_user`."""
        return await in_db(was_asked, self.session_id, self.part)

    async def ask_user(self, questions: Sequence[Question], *, number: int = 0) -> list[list[str]]:
        """See `ToolContext.ask_user`."""
        outcome = await in_db(
            ask_person, self._lease, self.part, questions, agent=self.agent, number=number
        )
        if isinstance(outcome, list):
            return outcome
        raise outcome

    def stoppable(self) -> AbstractAsyncContextManager[None]:
        """See `ToolContext.stoppable`."""
        return stoppable(self.part.id)

    async def progress(
        self, *, title: str | None = None, metadata: JsonObject | None = None
    ) -> None:
        """Show the running call to clients at most ten times a second, and keep it in its row."""
        state = self.part.state
        if not isinstance(state, ToolRunning):
            return
        redactor = self.sandbox.redactor
        shown = redactor.json(metadata or {})
        merged = {**(state.metadata or {}), **shown} or None
        title = redactor.text(title) if title else state.title
        state = state.model_copy(update={"title": title, "metadata": merged})
        self.part = self.part.model_copy(update={"state": state})
        pulse().grew(self)
        if time.monotonic() - self._shown_at >= PROGRESS_S:
            self._shown_at = time.monotonic()
            publish_progress(self._session, cast(StoredTool, self.part.to_json()))

    def take_delta(self) -> Delta | None:
        """Returns: nothing, because progress goes out as whole parts."""
        return None

    def to_row(self) -> Row:
        """Returns: the part with its progress so far."""
        return Row(self._lease, self.part.id, self.part.to_json())

    async def settled(self) -> None:
        """Wait until no progress is being written, so that the final state is the last."""
        await pulse().settled(self)


def unallowed(session_id: str, agent: str, permission: str, patterns: Sequence[str]) -> list[str]:
    """Returns: the patterns that the rules do not allow. Raises: SessionGone."""
    rows = Session.objects.select_related("project__team")
    session = rows.filter(pk=session_id).first()
    if session is None:
        raise SessionGone(session_id)
    ruleset = session_ruleset(session, agent)
    return [
        pattern
        for pattern in patterns
        if evaluate(permission, pattern, ruleset) is not Action.ALLOW
    ]


@transaction.atomic
def write_todos(lease: Lease, todos: Sequence[Todo]) -> None:
    """Replace the list. Raises: SessionGone; LeaseLost."""
    session = lock_session(lease.session_id, token=lease.token)
    items = [
        TodoItem(content=todo.content, status=todo.status.value, priority=todo.priority.value)
        for todo in todos
    ]
    append(session, [TodosUpdated(todos=items)])


def read_todos(session_id: str) -> list[Todo]:
    """Returns: the list as it stands."""
    return read_items([*load_todos(session_id)])
