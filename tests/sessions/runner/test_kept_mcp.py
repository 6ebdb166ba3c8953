from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from opencode_web.lib.db import in_db
from sessions.actions.checkouts import request_drop
from sessions.actions.questions import reply_question
from sessions.actions.sessions import delete_session, update_session
from sessions.models import (
    Checkout,
    McpServer,
    Project,
    QuestionRequest,
    SavedRule,
    Session,
    State,
)
from sessions.runner.drain import coordinator
from sessions.runner.offers import mcp_kept
from teams.models import User
from tests.sessions.factories import make_session, prompt, script, session_access
from tests.sessions.runner.drains import drain, parts_of, stop, until
from tests.sessions.runner.test_checkouts import do, own, shop
from tests.sessions.runner.test_custom_tools import states
from tests.sessions.runner.test_mcp_tools import set_up
from tests.sessions.runner.test_secrets import give
from tests.tools.mcp.servers import living

__all__ = ["own", "shop"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]


@pytest_asyncio.fixture(autouse=True)
async def server(project: Project) -> AsyncIterator[Path]:
    argv = list(living(Path(project.directory)))

    def prepare() -> None:
        set_up(project, living={"command": argv})
        SavedRule.objects.create(
            project=project, permission="living_*", pattern="*", created_at=project.created_at
        )

    await in_db(prepare)
    yield Path(project.directory, "living.py")
    await mcp_kept.end_kept_servers()


def kept() -> int:
    keeping = mcp_kept._keeping.get(asyncio.get_running_loop())
    return len(keeping.pool) if keeping else 0


def calls(*tools: str, **given: Any) -> str:
    """One step for each."""
    return script(*([{"tool": f"living_{tool}", "input": given}] for tool in tools))


async def outputs(session: Session) -> list[str]:
    return [one.get("output", one.get("error")) for one in await states(session)]


async def until_shown(session: Session, progress: str) -> None:
    await until(
        lambda: any(
            progress in str(part["state"].get("metadata")) for part in parts_of(session, "tool")
        )
    )


async def test_a_server_remembers_from_call_to_call_and_turn_to_turn(
    session: Session, project: Project, alice: User
) -> None:
    await in_db(prompt, alice, session, calls("count", "count"))
    session = await drain(session)
    await in_db(prompt, alice, session, calls("count"))
    session = await drain(session)
    assert await outputs(session) == ["1", "2", "3"]
    other = await in_db(make_session, alice, project)
    await in_db(prompt, alice, other, calls("count"))
    await drain(other)
    assert await outputs(other) == ["1"]
    assert kept() == 2


async def test_calls_of_one_answer_share_the_server(session: Session, alice: User) -> None:
    together = [{"tool": "living_count", "input": {"n": n}} for n in range(3)]
    await in_db(prompt, alice, session, script(together))
    session = await drain(session)
    assert sorted(await outputs(session)) == ["1", "2", "3"]


async def test_a_server_that_dies_in_a_call_is_started_anew_for_the_next(
    session: Session, alice: User
) -> None:
    await in_db(prompt, alice, session, calls("count", "die", "count"))
    session = await drain(session)
    first, died, second = await outputs(session)
    assert (first, second) == ("1", "1")
    assert died == "The server exited without a response: it was too much"


async def test_a_stop_is_told_to_the_server_which_lives_on(session: Session, alice: User) -> None:
    await in_db(prompt, alice, session, calls("count"))
    await drain(session)
    await in_db(prompt, alice, session, calls("slow"))
    running = asyncio.create_task(drain(session))
    await until_shown(session, "begun")
    await stop(alice, session)
    await running
    await in_db(prompt, alice, session, calls("count", "heard"))
    session = await drain(session)
    *_, count, heard = await outputs(session)
    assert count == "2"
    assert json.loads(heard).count("notifications/cancelled") == 1


async def test_it_ends_with_the_session_or_when_that_is_archived(
    session: Session, project: Project, alice: User
) -> None:
    other = await in_db(make_session, alice, project)
    for one in (session, other):
        await in_db(prompt, alice, one, calls("count"))
        await drain(one)
    assert kept() == 2
    access = await in_db(session_access, alice, session)
    await in_db(lambda: update_session(access, archived_ms=1_700_000_000_000))
    async with asyncio.timeout(10):
        while kept() != 1:
            await asyncio.sleep(0.02)
    access = await in_db(session_access, alice, other)
    await in_db(delete_session, access)
    async with asyncio.timeout(10):
        while kept():
            await asyncio.sleep(0.02)


async def test_it_ends_with_its_worktree(own: Session, alice: User) -> None:
    await in_db(prompt, alice, own, calls("count"))
    own = await drain(own)
    assert await outputs(own) == ["1"]
    assert kept() == 1
    row = await do(request_drop, alice, own)
    assert row.state == Checkout.State.DROPPED
    async with asyncio.timeout(10):
        while kept():
            await asyncio.sleep(0.02)


async def test_it_ends_when_the_process_stops(
    session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    await in_db(prompt, alice, session, calls("count"))
    await drain(session)
    assert kept() == 1
    monkeypatch.setattr(coordinator, "_leaving", False)
    await coordinator._leave(0)
    assert kept() == 0


async def test_what_is_switched_off_or_accepted_anew_is_not_reached(
    session: Session, project: Project, alice: User, server: Path
) -> None:
    await in_db(prompt, alice, session, calls("count"))
    await drain(session)
    with server.open("a") as file:
        file.write("# changed\n")
    await in_db(prompt, alice, session, calls("count"))
    session = await drain(session)
    assert "has to accept it as it is" in (await outputs(session))[-1]
    await in_db(lambda: set_up(project, living={"command": ["python3", "living.py"]}))
    await in_db(prompt, alice, session, calls("count"))
    session = await drain(session)
    assert (await outputs(session))[-1] == "1"
    off = {"command": ["python3", "living.py"], "enabled": False}
    await in_db(lambda: set_up(project, living=off))
    mcp_kept.look_after_servers()
    async with asyncio.timeout(10):
        while kept():
            await asyncio.sleep(0.02)


async def test_a_changed_secret_reaches_a_new_server(
    session: Session, project: Project, alice: User
) -> None:
    await in_db(give, project, alice)
    whole = {"command": ["python3", "living.py"], "environment": {"GIVEN": "{env:TOKEN} and more"}}
    await in_db(lambda: set_up(project, living=whole))
    await in_db(prompt, alice, session, calls("env", "count"))
    session = await drain(session)
    await in_db(lambda: give(project, alice, value="another-value-98765"))
    await in_db(prompt, alice, session, calls("env", "count"))
    session = await drain(session)
    assert await outputs(session) == ["[secret TOKEN] and more", "1"] * 2
    assert kept() == 1


async def test_tools_that_it_has_from_now_on_are_offered_in_the_next_step(
    session: Session, alice: User
) -> None:
    await in_db(prompt, alice, session, calls("grow", "grown"))
    session = await drain(session)
    assert await outputs(session) == ["grown", "new"]
    names = [tool["remote"] for tool in (await in_db(McpServer.objects.get)).tools]
    assert names[-1] == "grown"


async def test_how_far_a_call_is_is_shown_and_its_log_when_it_fails(
    session: Session, project: Project, alice: User
) -> None:
    await in_db(prompt, alice, session, calls("steps", "fail", "roots"))
    running = asyncio.create_task(drain(session))
    await until_shown(session, "/3 reading")
    session = await running
    read, failed, roots = await outputs(session)
    assert read == "read"
    assert failed == "failed\n\nLog of the server:\nerror: no disk"
    assert json.loads(roots)["roots"] == [
        {"uri": Path(project.directory).as_uri(), "name": Path(project.directory).name}
    ]


FORM = {
    "message": "Which tea?",
    "requestedSchema": {
        "type": "object",
        "properties": {"count": {"type": "integer", "title": "How many"}},
        "required": ["count"],
    },
}


async def reply(alice: User, session: Session, *answer: str) -> QuestionRequest:
    request = await in_db(QuestionRequest.objects.get, session=session, status="pending")
    access = await in_db(session_access, alice, session)
    await in_db(lambda: reply_question(access, request, answers=[list(answer)]))
    return request


async def test_what_a_server_asks_is_a_question_to_a_person(session: Session, alice: User) -> None:
    await in_db(prompt, alice, session, calls("form", **FORM))
    session = await drain(session)
    assert session.state == State.WAITING
    request = await reply(alice, session, "many")
    [asked] = request.questions
    assert asked["question"] == "The MCP server living asks: Which tea?\n\nHow many"
    session = await drain(session)
    assert session.state == State.WAITING
    request = await reply(alice, session, "3")
    assert "this must be a whole number" in request.questions[0]["question"]
    session = await drain(session)
    [output] = await outputs(session)
    assert json.loads(output) == {"action": "accept", "content": {"count": 3}}


async def test_a_question_whose_server_is_gone_ends_its_call(session: Session, alice: User) -> None:
    await in_db(prompt, alice, session, calls("form", **FORM))
    session = await drain(session)
    await mcp_kept.end_kept_servers()
    await reply(alice, session, "3")
    session = await drain(session)
    [error] = await outputs(session)
    assert "The server was ended while it waited for an answer." in error


async def test_a_stop_ends_a_call_that_waits_for_a_person(session: Session, alice: User) -> None:
    await in_db(prompt, alice, session, calls("form", **FORM))
    session = await drain(session)
    assert session.state == State.WAITING
    await stop(alice, session)
    session = await drain(session)
    assert session.state == State.IDLE
    await in_db(prompt, alice, session, calls("heard"))
    session = await drain(session)
    heard = json.loads((await outputs(session))[-1])
    assert heard[-3:] == ["result", "notifications/cancelled", "tools/call"]
