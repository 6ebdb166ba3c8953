from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from sessions.actions.permissions import reply_permission
from sessions.agents.loader import find_agent
from sessions.config.effective import project_config
from sessions.models import PermissionRequest, Project, Session, State, ToolDescription
from sessions.present.pages.repository import build_repository_page
from sessions.repository.custom_tools import offered_by
from sessions.repository.globs import forget_found
from sessions.repository.trust import brought_by
from sessions.rules.in_force import agent_ruleset
from teams.models import User
from tests.sessions.agents.test_brought import trust
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.runner.drains import drain, parts_of
from tools.permissions.rules import Action, evaluate

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]
Write = Callable[[str, str], None]

ADD = '''"""Adds one."""
parameters = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}

def run(arguments, context):
    return {"title": "Sum", "output": str(arguments["a"] + 1), "metadata": {"by": context["agent"]}}

tools = {"two": {"description": "Adds two.", "run": lambda given, context: "2"}}
'''


@pytest.fixture
def write(project: Project) -> Write:
    def write(name: str, text: str) -> None:
        file = Path(project.directory, ".opencode/tool", name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        forget_found()

    return write


def called(name: str, **arguments: Any) -> str:
    return script([{"tool": name, "input": arguments}])


async def answer(user: User, session: Session) -> PermissionRequest:
    request = await in_db(PermissionRequest.objects.get, session=session, status="pending")
    access = await in_db(session_access, user, session)
    await in_db(reply_permission, access, request, reply="once")
    return request


async def states(session: Session) -> list[dict[str, Any]]:
    parts = await in_db(parts_of, session, "tool")
    return [{"tool": part["tool"], **part["state"]} for part in parts]


async def test_a_trusted_tool_is_asked_for_and_run(
    session: Session, project: Project, alice: User, write: Write
) -> None:
    write("add.py", ADD)
    await in_db(trust, project, alice)
    await in_db(prompt, alice, session, called("add", a=2))
    session = await drain(session)
    assert session.state == State.WAITING
    request = await answer(alice, session)
    assert (request.permission, request.patterns) == ("add", ["*"])
    assert request.metadata == {"tool": "add", "input": {"a": 2}}
    session = await drain(session)
    [state] = await states(session)
    assert (state["status"], state["output"], state["title"]) == ("completed", "3", "Sum")
    assert state["metadata"] == {"truncated": False, "by": "build"}
    described = await in_db(ToolDescription.objects.get)
    assert [tool["name"] for tool in described.tools] == ["add", "add_two"]
    # The next turn asks the files nothing any more.
    await in_db(prompt, alice, session, "again")
    await drain(session)
    assert (await in_db(ToolDescription.objects.get)).described_at == described.described_at


async def test_without_trust_it_is_neither_described_nor_offered(
    session: Session, project: Project, alice: User, write: Write
) -> None:
    write("add.py", ADD)
    await in_db(prompt, alice, session, called("add", a=2))
    await drain(session)
    [state] = await states(session)
    assert state["tool"] == "invalid"
    assert "There is no tool 'add'" in state["output"]
    assert not await in_db(ToolDescription.objects.exists)


async def test_wrong_arguments_come_back_before_anybody_is_asked(
    session: Session, project: Project, alice: User, write: Write
) -> None:
    write("add.py", ADD)
    await in_db(trust, project, alice)
    await in_db(prompt, alice, session, called("add", a="x"))
    session = await drain(session)
    assert session.state == State.IDLE
    [state] = await states(session)
    assert state["status"] == "error"
    assert "['a']: 'x' is not of type 'integer'" in state["error"]
    assert not await in_db(PermissionRequest.objects.exists)


async def test_a_change_between_the_question_and_the_answer_is_not_run(
    session: Session, project: Project, alice: User, write: Write
) -> None:
    write("add.py", ADD)
    await in_db(trust, project, alice)
    await in_db(prompt, alice, session, called("add", a=2))
    session = await drain(session)
    write("add.py", ADD.replace("+ 1", "+ 100"))
    await answer(alice, session)
    await drain(session)
    [state] = await states(session)
    assert "not available any more" in state["output"]


async def test_names_that_clash_are_refused_and_said(
    session: Session, project: Project, alice: User, write: Write
) -> None:
    write("bash.py", ADD)
    write("broken.py", "1 / 0")
    write("odd name.py", ADD)
    await in_db(trust, project, alice)
    await in_db(prompt, alice, session, "hi")
    await drain(session)
    tools = await in_db(lambda: offered_by(project, brought_by(project)))
    assert [tool.name for tool in tools] == ["bash_two"]
    page = await in_db(build_repository_page, project)
    assert [
        (one.path.rpartition("/")[2], one.reason.partition(":")[0]) for one in page.problems
    ] == [
        ("bash.py", "There is a built-in tool bash; this one is not offered."),
        ("broken.py", "ZeroDivisionError"),
        ("odd name.py", "'odd name' is no name of a tool"),
        ("odd name.py", "'odd name_two' is no name of a tool"),
    ]


async def test_settings_open_and_close_a_tool_by_its_name(
    session: Session, project: Project, alice: User, write: Write
) -> None:
    write("add.py", ADD)
    await in_db(trust, project, alice)
    await in_db(prompt, alice, session, "hi")
    await drain(session)

    def decided(agent: str, permission: Any) -> Action:
        project.config = {"permission": permission}
        config = project_config(project)
        found = find_agent(config, agent)
        return evaluate("add", "*", agent_ruleset(project, found, config))

    assert await in_db(decided, "build", {}) is Action.ASK
    assert await in_db(decided, "build", {"add": "allow"}) is Action.ALLOW
    assert await in_db(decided, "build", {"add": "deny"}) is Action.DENY
    assert await in_db(decided, "explore", {}) is Action.DENY
