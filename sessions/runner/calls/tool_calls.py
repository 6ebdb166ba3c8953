"""Run the tool calls of a step in parallel. Each ends with a result for the model, or suspended."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from opencode_web.lib.db import in_db
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from opencode_web.lib.reasons import english
from sessions.config.programs import McpConfig
from sessions.events.live import publish_branch
from sessions.events.parts import (
    DoneTime,
    FilePart,
    StepFinishPart,
    StepStartPart,
    ToolCompleted,
    ToolPart,
    ToolRunning,
)
from sessions.events.reasons import CAUSE
from sessions.events.types import MessageUpdated, PartUpdated, SessionEvent
from sessions.git.branch import branch_of
from sessions.git.snapshots import Snapshots
from sessions.models import Session
from sessions.runner.calls.agent_switch import is_switch
from sessions.runner.calls.guarded_calls import confirm_repeat
from sessions.runner.calls.plugin_calls import PluginCalls, keep_changed, noted
from sessions.runner.calls.repairs import INVALID, invalid_call
from sessions.runner.calls.secret_use import mark_secrets_used
from sessions.runner.calls.step_plugins import StepPlugins
from sessions.runner.calls.step_setup import StepSetup, load_step_setup
from sessions.runner.calls.tool_context import READ_ONLY, CallContext
from sessions.runner.context.installed import place_of
from sessions.runner.files.changes import changed_files, patch_part, take_snapshot, turn_summary
from sessions.runner.log.held_inputs import drop_input, input_of, stands_for_more
from sessions.runner.log.history import ENDS
from sessions.runner.log.lease import Lease
from sessions.runner.log.settle import completed, fail_call, now_ms
from sessions.runner.log.steps import ToolStep
from sessions.runner.log.text_writer import append_events
from sessions.runner.offers.custom_tools import custom_tools
from sessions.runner.offers.mcp_tools import mcp_tools
from sessions.runner.offers.plugin_hooks import session_plugins
from sessions.sandboxes.build import sandbox_for
from tools.base import PermissionRejected, Tool, ToolError, ToolResult
from tools.builtin import batch
from tools.context import Suspended, SuspendedOn
from tools.permissions.rules import Ruleset, is_hidden
from tools.registry import all_tools, execute
from tools.sandbox.base import Sandbox
from tools.settlement import settle

Tools = Mapping[str, Tool[Any]]  # Any: see tools.registry


async def run_step(step: ToolStep, lease: Lease) -> tuple[list[SessionEvent], frozenset[str]]:
    """Run the calls of a step that may run.

    Returns: the events that close the step, none while a call waits for somebody; and the ids of
    the calls that wait for sub-agents.
    """
    step_setup, tools, sandbox, plugins = await in_db(_look_up, step)
    beside = PluginCalls(plugins, lease, sandbox.redactor)
    runner = _StepRunner(step, lease, sandbox, beside)
    tasks = [asyncio.create_task(runner.run_call(part, step_setup, tools)) for part in step.calls]
    try:
        waits = await asyncio.gather(*tasks)
    except BaseException:
        # No call may go on behind the end of its step, whatever ended it.
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        raise
    await runner.tell_branch()
    held = frozenset(
        part.id for part, on in zip(step.calls, waits, strict=True) if on == "children"
    )
    if step.waiting or step.held or any(waits) or runner.made_calls:
        return [], held
    return await runner.closing_events(), held


def _look_up(step: ToolStep) -> tuple[StepSetup, Tools, Sandbox, StepPlugins]:
    step_setup = load_step_setup(step.session, step.info.agent)
    config = step_setup.setup.config
    # A server never takes the place of a tool that is there without it.
    tools = {
        **mcp_tools(step.session, config.mcp, _author_of(step, config.mcp)),
        **all_tools(),
        **custom_tools(step.session, config.brought),
    }
    sandbox = sandbox_for(step.session)
    if sandbox.redactor.secrets and any(part.tool not in READ_ONLY for part in step.calls):
        mark_secrets_used(step.session.project)
    plugins = StepPlugins(
        place=place_of(step.session),
        message_id=step.info.id,
        agent=step.info.agent,
        of_repository=session_plugins(step.session, config.brought, step.info.parentID),
    )
    return step_setup, tools, sandbox, plugins


def _author_of(step: ToolStep, servers: Mapping[str, McpConfig]) -> int | None:
    """Whose prompt the calls are about, where it matters: others may have prompted meanwhile."""
    if not any(server.takes_own for server in servers.values()):
        return None
    prompts = step.session.messages.filter(pk=step.info.parentID)
    return prompts.values_list("author", flat=True).first()


class _StepRunner:
    def __init__(
        self, step: ToolStep, lease: Lease, sandbox: Sandbox, plugins: PluginCalls
    ) -> None:
        self._step = step
        self._session: Session = step.session
        self._lease = lease
        self._start = step.start
        self._before = step.start.snapshot if step.start else None
        self._address = {"sessionID": step.info.sessionID, "messageID": step.info.id}
        self._snapshots = Snapshots(step.session)
        self._snapshot_lock = asyncio.Lock()
        self._changing = asyncio.Lock()
        self._sandbox = sandbox
        self._plugins = plugins
        # Of the project's folder before the first call that may change something; None until then.
        self._branch: str | None = None
        self._ends = False
        # A batch has put calls beside it, which the step goes on with.
        self.made_calls = False

    async def run_call(
        self, part: ToolPart, step_setup: StepSetup, tools: Tools
    ) -> SuspendedOn | None:
        """Returns: what the call waits for, None when it is settled."""
        part, tool = _choose(part, step_setup.setup.ruleset, tools)
        context = CallContext(
            lease=self._lease,
            session=self._session,
            part=part,
            agent=self._step.info.agent,
            sandbox=self._sandbox,
            changing=self._changing,
            step_setup=step_setup,
            before_change=self._snapshot_before,
            plugins=self._plugins,
        )
        try:
            await confirm_repeat(context)
            given = await in_db(input_of, part) if stands_for_more(part) else part.state.input
            given = await self._asked_plugins(context, given)
            try:
                result = await execute(tool, given, context)
            finally:
                await context.settled()
            result = await self._told_plugins(context, result)
        except Suspended as waits:
            return waits.on
        except asyncio.CancelledError:
            # What it had shown so far stays with the call that is settled as stopped.
            if isinstance(context.part.state, ToolRunning) and context.part.state.metadata:
                await asyncio.shield(self._append(PartUpdated(part=context.part)))
            raise
        except ToolError as exc:
            # Without a word to the agent a rejection ends the turn, unless settings say otherwise.
            rejected = isinstance(exc, PermissionRejected) and not exc.feedback
            ends = rejected and not step_setup.continues_rejected
            marks: JsonObject = {"rejected": True} if ends else {}
            if exc.ending:
                marks |= {ENDS: english(exc.ending), CAUSE: exc.ending.to_json()}
            self._ends = self._ends or bool(marks)
            await self._append(fail_call(context.part, exc.message, **marks))
        else:
            await self._append(_completed(context.part, result))
            self.made_calls = self.made_calls or part.tool == batch.TOOL.name
            self._ends = self._ends or is_switch(part.tool, result.metadata)
        if stands_for_more(part):
            await in_db(drop_input, part)
        return None

    async def _asked_plugins(self, context: CallContext, given: JsonObject) -> JsonObject:
        """Returns: the arguments that the call is made with. Raises: PluginForbids."""
        asked = await self._plugins.before(context.part, given)
        if asked is None:
            return given
        context.part, given = asked
        await in_db(keep_changed, self._lease, context.part, given)
        return given

    async def _told_plugins(self, context: CallContext, result: ToolResult) -> ToolResult:
        """Returns: the result that the model reads. Raises: PluginForbids."""
        changed, notes = await self._plugins.after(context.part, result)
        context.part = noted(context.part, notes)
        if changed is result:
            return result
        return await asyncio.to_thread(settle, changed, context)

    async def _append(self, *events: SessionEvent) -> None:
        await in_db(append_events, self._lease, list(events))

    async def _snapshot_before(self) -> None:
        """Record the worktree before the first change of the step, for its patch and for undo."""
        async with self._snapshot_lock:
            # A session's own worktree stays on its branch.
            if self._branch is None and not self._session.folder:
                self._branch = await asyncio.to_thread(self._read_branch)
            if self._before is not None:
                return
            self._before = await take_snapshot(self._snapshots)
            if self._before:
                start = self._start or StepStartPart(id=new_id("prt"), **self._address)
                part = start.model_copy(update={"snapshot": self._before})
                await self._append(PartUpdated(part=part))

    def _read_branch(self) -> str:
        return branch_of(self._session.project, self._sandbox.redactor)

    async def tell_branch(self) -> None:
        """Tell clients when the calls have left the project's folder on another branch."""
        if self._branch is None:
            return
        branch = await asyncio.to_thread(self._read_branch)
        if branch != self._branch:
            publish_branch(self._session.project, branch)

    async def closing_events(self) -> list[SessionEvent]:
        """What changed, what it used, and the message's completion."""
        info = self._step.info
        after = await take_snapshot(self._snapshots) if self._before else None
        finish = StepFinishPart(
            id=new_id("prt"),
            reason=info.finish or "tool-calls",
            snapshot=after,
            cost=info.cost,
            tokens=info.tokens,
            **self._address,
        )
        events: list[SessionEvent] = [PartUpdated(part=finish)]
        if after and self._before and after != self._before:
            files = await changed_files(self._snapshots, self._before, after)
            patch = patch_part(self._before, files, self._sandbox.redactor, **self._address)
            events.append(PartUpdated(part=patch))
        events.append(MessageUpdated(info=completed(info)))
        if self._ends:
            # The turn ends here, so its changes are summed up here.
            await self._append(*events)
            return await turn_summary(self._session, info.parentID)
        return events


def _choose(
    part: ToolPart, ruleset: Ruleset, tools: Tools
) -> tuple[ToolPart, Tool[Any]]:  # Any: see registry
    """The call and the tool that answers it. Rules may have changed since the tool was offered."""
    tool = tools.get(part.tool)
    if tool is None or (part.tool != INVALID and is_hidden(tool.permission, ruleset)):
        gone = f"The tool {part.tool!r} is not available any more. Go on without it."
        return invalid_call(part, {"tool": part.tool, "error": gone}), tools[INVALID]
    return part, tool


def _completed(part: ToolPart, result: ToolResult) -> PartUpdated:
    now = now_ms()
    started = part.state.time.start if isinstance(part.state, ToolRunning) else now
    attachments = [
        FilePart(
            id=new_id("prt"),
            sessionID=part.sessionID,
            messageID=part.messageID,
            mime=file.mime,
            url=file.url,
            filename=file.filename,
        )
        for file in result.attachments
    ]
    state = ToolCompleted(
        input=part.state.input,
        output=result.output,
        title=result.title,
        metadata=result.metadata,
        time=DoneTime(start=started, end=now),
        attachments=attachments or None,
    )
    return PartUpdated(part=part.model_copy(update={"state": state}))
