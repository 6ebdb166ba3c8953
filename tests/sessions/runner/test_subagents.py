from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.db import transaction

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Conflict
from sessions.actions.control import request_stop
from sessions.actions.permissions import reply_permission
from sessions.actions.sessions import delete_session, update_session
from sessions.events.store import lock_session
from sessions.models import Message, Part, PermissionRequest, Run, Session
from sessions.rules.in_force import session_ruleset
from sessions.runner import run_session
from sessions.runner.log.lease import runnable_sessions
from teams.models import User
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.runner.drains import until
from tools.permissions.rules import Action, decide


def task(work: str, *, agent: str = "general", **more: Any) -> dict[str, Any]:
    given = {"description": "Look around", "prompt": work, "subagent_type": agent, **more}
    return {"tool": "task", "input": given}


def calls_of(session: Session) -> list[dict[str, Any]]:
    rows = Part.objects.filter(session=session, type="tool").order_by("seq", "id")
    return [row.data["state"] for row in rows]


def children_of(session: Session) -> list[Session]:
    return list(session.children.order_by("created_at"))


def is_settled(session: Session) -> bool:
    return not Session.objects.filter(root=session).exclude(state="idle").exists() and (
        Session.objects.get(pk=session.pk).state == "idle"
    )


async def work(session: Session) -> None:
    """Play the beat: drain whatever can go on until nothing can."""
    await run_session(session.pk)
    while runnable := await in_db(runnable_sessions):
        await asyncio.gather(*(run_session(session_id) for session_id, _ in runnable))
    await in_db(session.refresh_from_db)


async def test_a_task_reports_what_its_session_came_to(alice: User, session: Session) -> None:
    inner = script([{"text": "Found it in a.py:3."}])
    await in_db(prompt, alice, session, script([task(inner)], [{"text": "It is in a.py."}]))
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert (session.state, session.waits_for) == ("busy", "children")
    (waiting,) = await in_db(calls_of, session)
    (known,) = await in_db(children_of, session)
    # Clients follow it to the session of the work while that goes on.
    assert waiting["metadata"] == {
        "sessionId": known.pk,
        "parentSessionId": session.pk,
        "parked": True,
    }
    run = await in_db(Run.objects.get, session=session)
    assert run.lease_until is None
    await work(session)
    (child,) = await in_db(children_of, session)
    assert (session.state, session.outcome) == ("idle", "done")
    assert child.title == "Look around (@general subagent)"
    assert (child.root_id, child.agent, child.owner_id) == (session.pk, "general", alice.pk)
    (call,) = await in_db(calls_of, session)
    assert call["status"] == "completed"
    assert call["metadata"]["sessionId"] == child.pk
    assert call["output"] == (
        f'<task id="{child.pk}" state="completed">\n<task_result>\nFound it in a.py:3.\n'
        "</task_result>\n</task>"
    )


async def test_tasks_of_one_answer_work_side_by_side(alice: User, session: Session) -> None:
    slow = [[{"delay_ms": 1500}, {"text": f"done {number}"}] for number in range(3)]
    tasks = [task(script(one)) for one in slow]
    await in_db(prompt, alice, session, script(tasks, [{"text": "All three."}]))
    await run_session(session.pk)
    assert len(await in_db(children_of, session)) == 3
    await work(session)
    answers = Message.objects.filter(session__root=session, role="assistant")
    times = [row.data["time"] for row in await in_db(list, answers)]
    assert max(time["created"] for time in times) < min(time["completed"] for time in times)
    assert [call["status"] for call in await in_db(calls_of, session)] == ["completed"] * 3


async def test_a_parent_takes_up_each_child_as_it_ends(alice: User, session: Session) -> None:
    tasks = [task(script([{"text": "first"}])), task(script([{"text": "second"}]))]
    await in_db(prompt, alice, session, script(tasks, [{"text": "both"}]))
    await run_session(session.pk)
    first, _ = await in_db(children_of, session)
    await run_session(first.pk)
    await run_session(session.pk)
    statuses = [call["status"] for call in await in_db(calls_of, session)]
    assert sorted(statuses) == ["completed", "running"]
    await work(session)
    assert session.outcome == "done"


async def test_a_call_that_is_run_again_starts_no_second_child(
    alice: User, session: Session
) -> None:
    await in_db(prompt, alice, session, script([task(script([{"text": "x"}]))], [{"text": "y"}]))
    for _ in range(3):
        await run_session(session.pk)
    assert len(await in_db(children_of, session)) == 1
    await work(session)
    assert len(await in_db(children_of, session)) == 1


async def test_a_child_may_not_do_more_than_its_parent(alice: User, session: Session) -> None:
    inner = script([{"tool": "write", "input": {"filePath": "a", "content": "b"}}], [{"text": "z"}])
    ask = script([task(inner, agent="explore")], [{"text": "y"}])
    await in_db(prompt, alice, session, ask, agent="plan")
    await work(session)
    (child,) = await in_db(children_of, session)
    (call,) = await in_db(calls_of, child)
    assert call["status"] == "completed"  # by `invalid`: it is not even offered
    assert "There is no tool 'write'" in call["output"]


async def test_what_the_parents_agent_denies_holds_for_an_agent_that_allows_it(
    alice: User, session: Session
) -> None:
    config = {"agent": {"plan": {"permission": {"bash": "deny"}, "tools": {"task": True}}}}
    session.project.config = config
    await in_db(session.project.save)
    inner = script([{"tool": "bash", "input": {"command": "ls"}}], [{"text": "z"}])
    ask = script([task(inner, agent="explore")], [{"text": "y"}])
    await in_db(prompt, alice, session, ask, agent="plan")
    await work(session)
    (child,) = await in_db(children_of, session)
    assert "There is no tool 'bash'" in (await in_db(calls_of, child))[0]["output"]
    assert not await in_db(PermissionRequest.objects.exists)


async def test_the_depth_is_limited(alice: User, session: Session) -> None:
    inner = script([task(script([{"text": "deep"}]))], [{"text": "z"}])
    await in_db(prompt, alice, session, script([task(inner)], [{"text": "y"}]))
    await work(session)
    (child,) = await in_db(children_of, session)
    assert await in_db(children_of, child) == []
    assert "There is no tool 'task'" in (await in_db(calls_of, child))[0]["output"]


async def test_two_levels_when_the_settings_say_so(alice: User, session: Session) -> None:
    session.project.config = {"subagent_depth": 2}
    await in_db(session.project.save)
    inner = script([task(script([{"text": "deep"}]))], [{"text": "z"}])
    await in_db(prompt, alice, session, script([task(inner)], [{"text": "y"}]))
    await work(session)
    (child,) = await in_db(children_of, session)
    (grandchild,) = await in_db(children_of, child)
    assert grandchild.root_id == session.pk
    assert session.outcome == "done"


async def test_a_sub_agent_goes_on_by_its_task_id(alice: User, session: Session) -> None:
    await in_db(prompt, alice, session, script([task(script([{"text": "one"}]))], [{"text": "y"}]))
    await work(session)
    (child,) = await in_db(children_of, session)
    again = task(script([{"text": "two"}]), task_id=child.pk)
    await in_db(prompt, alice, session, script([again], [{"text": "y"}]))
    await work(session)
    assert [one.pk for one in await in_db(children_of, session)] == [child.pk]
    assert "two" in (await in_db(calls_of, session))[1]["output"]


async def test_an_unknown_agent_is_named_with_those_there_are(
    alice: User, session: Session
) -> None:
    await in_db(prompt, alice, session, script([task("x", agent="wizard")], [{"text": "y"}]))
    await work(session)
    (call,) = await in_db(calls_of, session)
    assert call["error"] == "There is no agent 'wizard'. Agents for tasks: explore, general."


async def test_a_child_that_fails_settles_the_parents_call(alice: User, session: Session) -> None:
    refused = {"error": {"status": 401, "message": "bad key"}}
    await in_db(prompt, alice, session, script([task(script([refused]))], [{"text": "I see."}]))
    await work(session)
    (call,) = await in_db(calls_of, session)
    assert call["status"] == "error"
    assert call["error"].startswith("The sub-agent failed (task_id: ses_")
    assert session.outcome == "done"


async def test_a_stop_of_the_parent_stops_the_whole_tree(alice: User, session: Session) -> None:
    slow = script([{"text": "begun"}, {"delay_ms": 60_000}])
    await in_db(prompt, alice, session, script([task(slow), task(slow)]))
    await run_session(session.pk)
    children = await in_db(children_of, session)
    drains = [asyncio.create_task(run_session(child.pk)) for child in children]
    for child in children:
        await until(lambda c=child: Part.objects.filter(session=c, type="text").count() > 1)
    assert await in_db(request_stop, await in_db(session_access, alice, session))
    await asyncio.wait_for(asyncio.gather(*drains), 25)
    await work(session)
    assert (session.state, session.outcome) == ("idle", "stopped")
    for child in await in_db(children_of, session):
        assert (child.state, child.outcome) == ("idle", "stopped")
    assert {call["status"] for call in await in_db(calls_of, session)} == {"error"}


async def test_a_stop_of_one_child_goes_back_to_the_parent(alice: User, session: Session) -> None:
    slow = script([{"delay_ms": 60_000}])
    await in_db(prompt, alice, session, script([task(slow)], [{"text": "Then not."}]))
    await run_session(session.pk)
    (child,) = await in_db(children_of, session)
    drain = asyncio.create_task(run_session(child.pk))
    await until(lambda: child.messages.filter(role="assistant").exists())
    await in_db(request_stop, await in_db(session_access, alice, child))
    await asyncio.wait_for(drain, 25)
    await work(session)
    (call,) = await in_db(calls_of, session)
    assert "Stopped by Alice" in call["error"]
    assert session.outcome == "done"


async def test_a_childs_request_is_answered_and_all_goes_on(alice: User, session: Session) -> None:
    inner = script([{"tool": "write", "input": {"filePath": "a", "content": "b"}}], [{"text": "w"}])
    await in_db(prompt, alice, session, script([task(inner)], [{"text": "y"}]))
    await work(session)
    (child,) = await in_db(children_of, session)
    assert (child.state, session.state) == ("waiting", "busy")
    request = await in_db(PermissionRequest.objects.get, session=child)
    access = await in_db(session_access, alice, child)
    await in_db(reply_permission, access, request, reply="once")
    await work(session)
    assert session.outcome == "done"
    assert (await in_db(calls_of, session))[0]["status"] == "completed"


async def test_a_sub_agent_that_asks_somebody_is_at_rest_once_its_idle_session_is_archived(
    alice: User, session: Session
) -> None:
    await in_db(prompt, alice, session, script([task(script([{"text": "x"}]))], [{"text": "y"}]))
    await work(session)
    (child,) = await in_db(children_of, session)
    write = {"tool": "write", "input": {"filePath": "a", "content": "b"}}
    await in_db(prompt, alice, child, script([write], [{"text": "never"}]))
    await work(session)
    await in_db(child.refresh_from_db)
    assert (session.state, child.state) == ("idle", "waiting")
    access = await in_db(session_access, alice, session)
    await in_db(update_session, access, archived_ms=1)
    await work(session)
    (child,) = await in_db(children_of, session)
    assert (child.state, child.outcome) == ("idle", "stopped")
    assert (await in_db(PermissionRequest.objects.get, session=child)).status == "cancelled"


@pytest.mark.parametrize("when", ["before the child", "after the child"])
async def test_nothing_of_a_tree_depends_on_the_worker_that_began_it(
    alice: User, session: Session, when: str
) -> None:
    await in_db(prompt, alice, session, script([task(script([{"text": "x"}]))], [{"text": "y"}]))
    await run_session(session.pk)
    (child,) = await in_db(children_of, session)
    if when == "after the child":
        await run_session(child.pk)
    # Every doorbell was lost: only the rows say what is to be done.
    runnable = [session_id for session_id, _ in await in_db(runnable_sessions)]
    assert runnable == [child.pk if when == "before the child" else session.pk]
    await work(session)
    assert await in_db(is_settled, session)
    assert session.outcome == "done"


async def test_a_call_whose_child_was_deleted_is_told_so_and_starts_no_other(
    alice: User, session: Session
) -> None:
    inner = script([{"tool": "write", "input": {"filePath": "a", "content": "b"}}], [{"text": "w"}])
    await in_db(prompt, alice, session, script([task(inner)], [{"text": "Then not."}]))
    await work(session)
    (child,) = await in_db(children_of, session)
    assert child.state == "waiting"
    await in_db(delete_session, await in_db(session_access, alice, child))
    await work(session)
    (call,) = await in_db(calls_of, session)
    assert call["error"] == "The sub-agent's session was deleted. Nothing is known of its work."
    assert await in_db(children_of, session) == []
    assert (session.state, session.outcome) == ("idle", "done")


async def test_what_clients_write_into_a_childs_metadata_starts_no_second_child(
    alice: User, session: Session
) -> None:
    await in_db(prompt, alice, session, script([task(script([{"text": "x"}]))], [{"text": "y"}]))
    await run_session(session.pk)
    (child,) = await in_db(children_of, session)
    await in_db(update_session, await in_db(session_access, alice, child), metadata={"my": "own"})
    await asyncio.wait_for(work(session), 25)
    assert len(await in_db(children_of, session)) == 1
    assert (await in_db(calls_of, session))[0]["status"] == "completed"


async def test_a_session_is_not_deleted_while_its_sub_agent_works(
    alice: User, session: Session
) -> None:
    await in_db(prompt, alice, session, script([task(script([{"text": "x"}]))], [{"text": "y"}]))
    await work(session)
    (child,) = await in_db(children_of, session)
    await in_db(prompt, alice, child, script([{"text": "asked by a person"}]))
    access = await in_db(session_access, alice, session)
    with pytest.raises(Conflict):
        await in_db(delete_session, access)
    await run_session(child.pk)
    await in_db(delete_session, access)
    assert not await in_db(Session.objects.exists)


async def test_who_resumes_a_sub_agent_gives_it_the_own_rules(
    alice: User, session: Session
) -> None:
    first = script([task(script([{"text": "one"}]), agent="explore")], [{"text": "y"}])
    await in_db(prompt, alice, session, first)
    await work(session)
    (child,) = await in_db(children_of, session)
    edits = {"permission": "edit", "pattern": "*", "action": "deny"}
    assert edits not in child.permission
    again = task(script([{"text": "two"}]), agent="explore", task_id=child.pk)
    await in_db(prompt, alice, session, script([again], [{"text": "y"}]), agent="plan")
    await work(session)
    (child,) = await in_db(children_of, session)
    assert edits in child.permission


async def test_a_sub_agent_that_works_takes_no_second_task(alice: User, session: Session) -> None:
    await in_db(prompt, alice, session, script([task(script([{"text": "one"}]))], [{"text": "y"}]))
    await work(session)
    (child,) = await in_db(children_of, session)
    more = [task(script([{"text": text}]), task_id=child.pk) for text in ("two", "three")]
    await in_db(prompt, alice, session, script(more, [{"text": "y"}]))
    await work(session)
    assert [one.pk for one in await in_db(children_of, session)] == [child.pk]
    _, *calls = await in_db(calls_of, session)
    assert sorted(call["status"] for call in calls) == ["completed", "error"]
    (refused,) = (call["error"] for call in calls if call["status"] == "error")
    assert refused == f"The sub-agent {child.pk} is still at work. Wait for its report first."


async def test_tools_of_a_prompt_open_nothing_that_the_caller_was_denied(
    alice: User, session: Session
) -> None:
    ask = script([task(script([{"text": "x"}]), agent="explore")], [{"text": "y"}])
    await in_db(prompt, alice, session, ask, agent="plan")
    await work(session)
    (child,) = await in_db(children_of, session)
    await in_db(prompt, alice, child, "hello", agent="build", tools={"write": True, "read": False})
    await run_session(child.pk)
    child = await in_db(Session.objects.select_related("project__team").get, pk=child.pk)
    ruleset = await in_db(session_ruleset, child, "build")
    assert decide("edit", ("a.py",), ruleset) is Action.DENY
    assert decide("read", ("a.py",), ruleset) is Action.DENY


@transaction.atomic
def _delete_project(session: Session) -> None:
    lock_session(session.pk)  # as whatever deletes sessions does
    session.project.delete()


async def test_a_session_that_is_deleted_while_it_works_ends_its_drain(
    alice: User, session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    await in_db(prompt, alice, session, script([{"text": "begun"}, {"delay_ms": 700}]))
    drain = asyncio.create_task(run_session(session.pk))
    await until(lambda: Part.objects.filter(session=session, type="text").exists())
    await in_db(_delete_project, session)
    await asyncio.wait_for(drain, 25)
    assert "drain.failed" not in caplog.text
    assert not await in_db(Session.objects.exists)
