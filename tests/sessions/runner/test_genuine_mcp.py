"""The protocol's own example server, a program of npm, through turns."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from bench.npm import Unavailable, cache, install
from opencode_web.lib.db import in_db
from providers.llm.messages import ProviderRequest
from sessions.actions.permissions import reply_permission
from sessions.actions.questions import reply_question
from sessions.models import PermissionRequest, Project, QuestionRequest, SavedRule, Session, State
from sessions.runner.offers import mcp_kept
from teams.models import User
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.runner.drains import drain
from tests.sessions.runner.test_custom_tools import states
from tests.sessions.runner.test_kept_mcp import kept
from tests.sessions.runner.test_mcp_mentions import mentioned
from tests.sessions.runner.test_mcp_tools import set_up
from tests.sessions.runner.test_mcp_updates import updates
from tests.sessions.runner.test_prompt_parts import admit

pytestmark = [pytest.mark.deep, pytest.mark.django_db(transaction=True)]
VERSION = "2026.8.31"
PROGRAM = "node_modules/@modelcontextprotocol/server-everything/dist/index.js"


@pytest_asyncio.fixture(autouse=True)
async def everything(project: Project) -> AsyncIterator[None]:
    folder = cache("mcp-everything", VERSION)
    try:
        package = f"@modelcontextprotocol/server-everything@{VERSION}"
        install([package], folder / PROGRAM, folder)
    except Unavailable as exc:
        pytest.skip(str(exc))
    shutil.copytree(folder / "node_modules", Path(project.directory, "node_modules"))

    def prepare() -> None:
        set_up(project, all={"command": ["node", PROGRAM], "timeout": 60_000, "sampling": "ask"})
        SavedRule.objects.create(
            project=project, permission="all_*", pattern="*", created_at=project.created_at
        )

    await in_db(prepare)
    yield
    await mcp_kept.end_kept_servers()


def calls(*tools: tuple[str, dict[str, object]]) -> str:
    return script(*([{"tool": f"all_{name}", "input": given}] for name, given in tools))


async def test_the_example_server_lives_over_a_turn(
    session: Session, project: Project, alice: User
) -> None:
    await in_db(
        prompt,
        alice,
        session,
        calls(
            ("echo", {"message": "tea"}),
            # On and off again: it remembers.
            ("toggle-simulated-logging", {}),
            ("toggle-simulated-logging", {}),
            ("get-structured-content", {"location": "New York"}),
            ("get-tiny-image", {}),
            ("get-roots-list", {}),
            ("trigger-long-running-operation", {"duration": 1, "steps": 4}),
            ("trigger-elicitation-request", {}),
        ),
    )
    session = await drain(session)
    assert session.state == State.WAITING
    request = await in_db(QuestionRequest.objects.get, session=session)
    access = await in_db(session_access, alice, session)
    answers: list[list[str]] = [["Ada"], *([] for _ in request.questions[1:])]
    await in_db(lambda: reply_question(access, request, answers=answers))
    session = await drain(session)
    found = {one["tool"]: one for one in await states(session)}
    assert found["all_echo"]["output"] == "Echo: tea"
    on, off = [one["output"] for one in await states(session) if "simulated" in one["tool"]]
    assert on.startswith("Started")
    assert off.startswith("Stopped")
    assert "temperature" in json.loads(found["all_get-structured-content"]["output"])
    # Its picture has a wrong checksum, so no provider would take it.
    assert "omitted" in found["all_get-tiny-image"]["output"]
    assert Path(project.directory).as_uri() in found["all_get-roots-list"]["output"]
    assert "completed" in found["all_trigger-long-running-operation"]["output"]
    # One question for each of its fields; whoever leaves one empty takes what is suggested.
    assert len(request.questions) == 13
    form = found["all_trigger-elicitation-request"]["output"]
    assert "- Name: Ada" in form
    assert "- Favorite Integer: 42" in form
    assert session.state == State.IDLE
    assert kept() == 1


async def test_the_example_server_asks_the_model(
    session: Session, project: Project, alice: User
) -> None:
    asked = f"Name a tea. {script([{'text': 'Sencha'}])}"
    given = {"prompt": asked, "maxTokens": 50}
    await in_db(prompt, alice, session, calls(("trigger-sampling-request", given)))
    session = await drain(session)
    request = await in_db(PermissionRequest.objects.get, session=session)
    assert (request.permission, request.patterns) == ("sampling", ["all"])
    assert "Name a tea." in request.metadata["prompt"]
    access = await in_db(session_access, alice, session)
    await in_db(lambda: reply_permission(access, request, reply="once"))
    session = await drain(session)
    [state] = await states(session)
    assert "Sencha" in state["output"]
    assert "endTurn" in state["output"]


async def test_the_example_server_says_that_a_mentioned_resource_has_changed(
    session: Session, alice: User, requests: list[ProviderRequest]
) -> None:
    uri = "demo://resource/dynamic/text/1"
    typed = calls(("toggle-subscriber-updates", {}), ("toggle-subscriber-updates", {}))
    await in_db(admit, alice, session, {"type": "text", "text": typed}, mentioned(uri, "all"))
    session = await drain(session)
    on, off = [one["output"] for one in await states(session) if "toggle" in one["tool"]]
    assert on.startswith("Started")
    assert off.startswith("Stopped")
    [told] = updates(requests[-1])
    assert uri in told
    assert "This is a plaintext resource created at" in told
    await mcp_kept.end_kept_servers()
    assert kept() == 0
