from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from django.utils import timezone

from opencode_web.lib.db import in_db
from opencode_web.lib.ids import new_id
from sessions.actions.permissions import reply_permission
from sessions.events.types import (
    PartUpdated,
    PermissionAsked,
    PermissionReplied,
    SessionStatus,
    SessionUpdated,
)
from sessions.models import Part, PermissionRequest, Project, Run, Session
from sessions.runner import run_session
from sessions.runner.calls.suspension import suspended
from sessions.runner.calls.tool_context import CallContext
from sessions.runner.drain import coordinator
from sessions.runner.log.text_writer import append_events
from sessions.wire import to_ms
from teams.models import User
from tests.sessions.factories import make_session, prompt, script, session_access
from tests.sessions.runner.drains import is_runnable, parts_of
from tests.sessions.story import write
from tools import registry
from tools.base import Params, Tool, ToolResult
from tools.context import PermissionAsk, Suspended, ToolContext


def suspend(session: Session, waits_for: str, *, in_s: float | None = None) -> None:
    state = "waiting" if waits_for in ("person", "budget") else "busy"
    moment = None if in_s is None else to_ms(timezone.now() + timedelta(seconds=in_s))
    write(session, SessionStatus(state=state, waits_for=waits_for, until=moment))


def ask(session: Session) -> str:
    asked = PermissionAsked(
        id=new_id("per"),
        message_id="msg_1",
        call_id="call_1",
        agent="build",
        permission="bash",
        patterns=["ls"],
        always=[],
        metadata={},
    )
    write(session, asked)
    return asked.id


@pytest.mark.parametrize("waits_for", ["person", "budget"])
def test_who_waits_for_an_answer_runs_when_it_came_or_its_time_ran_out(
    session: Session, waits_for: str
) -> None:
    request_id = ask(session)
    suspend(session, waits_for)
    assert not is_runnable(session)
    suspend(session, waits_for, in_s=30)
    assert not is_runnable(session)
    suspend(session, waits_for, in_s=-1)
    assert is_runnable(session)
    suspend(session, waits_for)
    write(session, PermissionReplied(id=request_id, reply="once"))
    assert is_runnable(session)


def test_who_waits_for_the_next_try_runs_when_it_is_due(session: Session) -> None:
    suspend(session, "retry", in_s=30)
    assert not is_runnable(session)
    suspend(session, "retry", in_s=-1)
    assert is_runnable(session)


def test_who_waits_for_sub_agents_runs_when_none_works(
    alice: User, project: Project, session: Session
) -> None:
    first, second = (make_session(alice, project, parent=session) for _ in range(2))
    write(first, SessionStatus(state="busy"))
    suspend(second, "person")
    suspend(session, "children")
    assert not is_runnable(session)
    write(first, SessionStatus(state="idle"))
    assert not is_runnable(session)
    write(second, SessionStatus(state="idle"))
    assert is_runnable(session)


class _Delegation:
    """A tool that hands its work to a sub-agent and comes back for the result."""

    def __init__(self, child: Session) -> None:
        self.child = child
        self.runs = 0

    async def run(self, params: Params, context: ToolContext) -> ToolResult:
        self.runs += 1
        await context.ask(PermissionAsk("list", ("*",)))
        await context.progress(metadata={"sessionId": self.child.pk})
        await in_db(self.child.refresh_from_db)
        if self.child.state != "idle":
            assert isinstance(context, CallContext)
            works_for = SessionUpdated(metadata={"task": context.part.id})
            await in_db(write, self.child, works_for)
            waits = PartUpdated(part=suspended(context.part))
            await in_db(append_events, context._lease, [waits])
            raise Suspended(on="children")
        return ToolResult(title="delegated", output="the child is done")


async def test_a_call_waits_for_its_sub_agent_and_goes_on_where_it_was(
    alice: User, project: Project, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = await in_db(make_session, alice, project, parent=session)
    await in_db(write, child, SessionStatus(state="busy"))
    delegation = _Delegation(child)
    tool = Tool("list", Params, delegation.run, "list", "")
    monkeypatch.setattr(registry, "_TOOLS", {**registry.all_tools(), "list": tool})
    calls = [{"tool": "list", "input": {}}, {"tool": "glob", "input": {"pattern": "*"}}]
    await in_db(prompt, alice, session, script(calls, [{"text": "both are done"}]))
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert (session.state, session.waits_for) == ("busy", "children")
    assert not coordinator._drains
    held, other = await in_db(parts_of, session, "tool")
    assert other["state"]["status"] == "completed"
    assert held["state"]["status"] == "running"
    assert held["state"]["metadata"] == {"sessionId": child.pk, "parked": True}

    # A ring that comes too early changes nothing.
    before = session.seq
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert (session.seq, delegation.runs) == (before, 1)

    await in_db(write, child, SessionStatus(state="idle"))
    assert await in_db(is_runnable, session)
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome, session.waits_for) == ("idle", "done", "")
    held = (await in_db(parts_of, session, "tool"))[0]
    assert (held["state"]["status"], held["state"]["output"]) == ("completed", "the child is done")
    assert await in_db(Part.objects.filter(session=session, data__text="both are done").count) == 1


async def test_sessions_that_wait_for_people_hold_no_drain_task_or_lease(
    alice: User, project: Project
) -> None:
    project.config = {"permission": {"list": "ask"}}
    await in_db(project.save)
    before = {task.get_name() for task in asyncio.all_tasks()}
    sessions = [await in_db(make_session, alice, project) for _ in range(5)]
    steps = ([{"tool": "list", "input": {}}], [{"text": "went on"}])
    for one in sessions:
        await in_db(prompt, alice, one, script(*steps))
    # Each returns, and with it the thread of the queue's pool that has called it.
    await asyncio.wait_for(asyncio.gather(*(run_session(one.pk) for one in sessions)), 25)
    assert not coordinator._drains
    tasks = {task.get_name() for task in asyncio.all_tasks()} - before
    assert [name for name in tasks if name.startswith("drain")] == []
    held = Run.objects.exclude(owner="", lease_until=None)
    assert await in_db(held.count) == 0

    request = await in_db(PermissionRequest.objects.get, session=sessions[0])
    access = await in_db(session_access, alice, sessions[0])
    await in_db(reply_permission, access, request, reply="once")
    await run_session(sessions[0].pk)
    (call,) = await in_db(parts_of, sessions[0], "tool")
    assert (call["callID"], call["state"]["status"]) == (request.call_id, "completed")
    assert [part["text"] for part in await in_db(parts_of, sessions[0], "text")] == ["went on"]
