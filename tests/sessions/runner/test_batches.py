from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from providers.llm.messages import ProviderRequest, ToolCall
from sessions.actions.permissions import reply_permission
from sessions.events.parts import PART, ToolPart
from sessions.models import Part, PermissionRequest, Project, Session
from sessions.rules.in_force import session_setup
from sessions.runner.calls.batches import begin_calls
from sessions.runner.log.lease import acquire_lease
from teams.models import User
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.runner.drains import drain, parts_of, stop
from tools.context import InnerCall


@pytest.fixture(autouse=True)
def switched_on(transactional_db: None, project: Project) -> None:
    project.config = {"experimental": {"batch_tool": True}}
    project.save()


def batch(*calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    listed = [{"tool": tool, "parameters": given} for tool, given in calls]
    return {"tool": "batch", "input": {"tool_calls": listed}}


def shell(command: str) -> tuple[str, dict[str, Any]]:
    return "bash", {"command": command}


async def reply(alice: User, session: Session, what: str, command: str) -> None:
    rows = await in_db(
        lambda: list(PermissionRequest.objects.filter(session=session, status="pending"))
    )
    (request,) = [row for row in rows if row.patterns == [command]]
    access = await in_db(session_access, alice, session)
    await in_db(reply_permission, access, request, reply=what)
    await drain(session)


def states(session: Session) -> list[tuple[str, str]]:
    return [(part["tool"], part["state"]["status"]) for part in parts_of(session, "tool")]


async def test_feat2_fr_02_every_call_of_a_batch_has_its_own_part_and_result(
    alice: User, session: Session, project: Project, requests: list[ProviderRequest]
) -> None:
    (Path(project.directory) / "a.py").write_text("one = 1\n")
    call = batch(("read", {"filePath": "a.py"}), ("GLOB", {"pattern": "*.py"}))
    await in_db(prompt, alice, session, script([call], [{"text": "done"}]))
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "done")
    parts = await in_db(parts_of, session, "tool")
    assert [part["tool"] for part in parts] == ["batch", "read", "glob"]
    assert [part["state"]["status"] for part in parts] == ["completed"] * 3
    assert "one = 1" in parts[1]["state"]["output"]
    assert parts[1]["metadata"] == {"batch": parts[0]["callID"]}
    # The model reads each result under a call of its own.
    last = requests[-1].messages
    called = [p for m in last for p in getattr(m, "content", ()) if isinstance(p, ToolCall)]
    assert [one.name for one in called] == ["batch", "read", "glob"]
    results = [m for m in last if type(m).__name__ == "ToolResultMessage"]
    assert [m.call_id for m in results] == [one.id for one in called]  # type: ignore[union-attr]


async def test_a_call_that_waits_does_not_run_the_others_again(
    alice: User, session: Session, project: Project
) -> None:
    log = Path(project.directory) / "log"
    call = batch(shell("echo one >> log"), shell("echo two >> log"), ("glob", {"pattern": "*"}))
    await in_db(prompt, alice, session, script([call], [{"text": "done"}]))
    await drain(session)
    assert (session.state, session.waits_for) == ("waiting", "person")
    assert await in_db(states, session) == [
        ("batch", "completed"),
        ("bash", "running"),
        ("bash", "running"),
        ("glob", "completed"),
    ]
    await reply(alice, session, "once", "echo two >> log")
    assert (session.state, log.read_text()) == ("waiting", "two\n")
    await reply(alice, session, "once", "echo one >> log")
    assert (session.outcome, log.read_text()) == ("done", "two\none\n")
    assert [state for _, state in await in_db(states, session)] == ["completed"] * 4


async def test_a_stop_settles_all_that_waits(alice: User, session: Session) -> None:
    call = batch(shell("echo one"), shell("echo two"))
    await in_db(prompt, alice, session, script([call], [{"text": "not reached"}]))
    await drain(session)
    await stop(alice, session)
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "stopped")
    assert await in_db(states, session) == [
        ("batch", "completed"),
        ("bash", "error"),
        ("bash", "error"),
    ]


async def test_calls_that_cannot_be_made_fail_alone(
    alice: User, session: Session, project: Project
) -> None:
    project.config = {**project.config, "permission": {"grep": "deny"}}
    await in_db(project.save)
    call = batch(
        ("batch", {"tool_calls": []}),
        ("task", {}),
        ("question", {}),
        ("teleport", {}),
        ("grep", {"pattern": "x"}),
        ("read", {"file": "a"}),
        ("glob", {"pattern": "*"}),
    )
    await in_db(prompt, alice, session, script([call], [{"text": "done"}]))
    await drain(session)
    assert session.outcome == "done"
    assert await in_db(states, session) == [
        ("batch", "completed"),
        ("batch", "error"),
        ("task", "error"),
        ("question", "error"),
        ("invalid", "completed"),
        ("invalid", "completed"),
        ("read", "error"),
        ("glob", "completed"),
    ]


async def test_a_batch_of_nothing_but_refused_calls_goes_on(alice: User, session: Session) -> None:
    await in_db(prompt, alice, session, script([batch(("task", {}))], [{"text": "done"}]))
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "done")


async def test_a_batch_that_is_run_again_makes_its_calls_once(
    alice: User, session: Session
) -> None:
    await in_db(prompt, alice, session, script([batch(shell("echo one"))], [{"text": "done"}]))
    await drain(session)
    row = await in_db(Part.objects.get, session=session, data__tool="batch")
    part = PART.validate_python(row.data)
    assert isinstance(part, ToolPart)
    lease = await in_db(acquire_lease, session.pk)
    assert lease is not None
    again = [InnerCall("bash", {"command": "echo one"})]
    setup = await in_db(session_setup, session, "build")
    await in_db(begin_calls, lease, part, again, setup)
    assert len(await in_db(parts_of, session, "tool")) == 2


async def test_the_same_batch_for_the_third_time_in_an_answer_is_asked_about(
    alice: User, session: Session
) -> None:
    same = batch(("glob", {"pattern": "*"}), ("list", {}))
    await in_db(prompt, alice, session, script([same, same, same], [{"text": "enough"}]))
    await drain(session)
    request = await in_db(PermissionRequest.objects.get, session=session, status="pending")
    assert (request.permission, request.patterns) == ("doom_loop", ["batch"])
    assert [tool for tool, _ in await in_db(states, session)].count("glob") == 2


async def test_it_is_not_there_unless_it_is_switched_on(
    alice: User, session: Session, project: Project, requests: list[ProviderRequest]
) -> None:
    project.config = {}
    await in_db(project.save)
    await in_db(prompt, alice, session, script([batch(("list", {}))], [{"text": "done"}]))
    await drain(session)
    assert "batch" not in [tool.name for tool in requests[0].tools]
    assert await in_db(states, session) == [("invalid", "completed")]
