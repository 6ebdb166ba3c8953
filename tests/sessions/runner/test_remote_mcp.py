from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler

import pytest
from pytest_django import Settings

from opencode_web.lib.db import in_db
from opencode_web.lib.outbound import NO_ANSWER
from sessions.models import McpServer, Project, Session, State
from teams.models import User
from tests.sessions.factories import prompt
from tests.sessions.runner.drains import drain
from tests.sessions.runner.test_custom_tools import answer, called, states
from tests.sessions.runner.test_mcp_tools import set_up
from tests.sessions.runner.test_secrets import VALUE, give, stored
from tests.tools.mcp.remote_servers import shop
from tests.web_server import answer as reply
from tests.web_server import serve_any

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]


def echo(handler: BaseHTTPRequestHandler) -> None:
    """Says in a tool's description, an error or a result what it was sent."""
    asked = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
    given = f"{handler.headers['authorization']} {handler.headers['x-own-key']}"
    results = {
        "initialize": {"capabilities": {"tools": {}}, "instructions": given},
        "tools/list": {"tools": [{"name": "tell", "description": given}]},
        "tools/call": {"content": [{"type": "text", "text": given}]},
    }
    message = {"jsonrpc": "2.0", "id": asked.get("id"), "result": results.get(asked["method"])}
    reply(json.dumps(message).encode(), content_type="application/json")(handler)


async def test_a_tool_of_a_server_at_an_address_is_asked_for_and_run(
    session: Session, project: Project, alice: User
) -> None:
    """FEAT-0008 FR-03."""
    with shop("streamable-http") as url:
        remote = {"type": "remote", "url": url, "headers": {"X-Key": "in-plain-words"}}
        await in_db(lambda: set_up(project, shop=remote))
        await in_db(prompt, alice, session, called("shop_stock", item="tea"))
        session = await drain(session)
        assert session.state == State.WAITING
        request = await answer(alice, session)
        assert (request.permission, request.patterns) == ("shop_stock", ["*"])
        session = await drain(session)
    [state] = await states(session)
    assert (state["status"], state["output"]) == ("completed", "1 of tea for [secret X-Key]")


async def test_what_it_was_sent_is_in_nothing_that_it_says(
    session: Session, project: Project, alice: User
) -> None:
    """FEAT-0008 NFR-02."""
    await in_db(give, project, alice)
    headers = {"Authorization": "Bearer {env:TOKEN}", "X-Own-Key": "written-in-the-settings"}
    with serve_any(echo) as url:
        await in_db(lambda: set_up(project, far={"type": "remote", "url": url, "headers": headers}))
        await in_db(prompt, alice, session, called("far_tell"))
        session = await drain(session)
        await answer(alice, session)
        session = await drain(session)
    [state] = await states(session)
    assert state["output"] == "Bearer [secret TOKEN] [secret X-Own-Key]"
    row = await in_db(McpServer.objects.get)
    shown = "Bearer [secret TOKEN] [secret X-Own-Key]"
    assert (row.tools[0]["description"], row.instructions) == (shown, shown)
    everything = await in_db(stored, session)
    assert VALUE not in everything
    assert "written-in-the-settings" not in everything


async def test_a_listed_variable_is_sent_and_in_nothing_that_it_says(
    session: Session, project: Project, alice: User, settings: Settings
) -> None:
    settings.CONFIG_VALUES = {"TOKEN": VALUE, "OTHER": "not-named-in-there"}
    headers = {"Authorization": "Bearer {env:TOKEN}"}
    with serve_any(echo) as url:
        await in_db(lambda: set_up(project, far={"type": "remote", "url": url, "headers": headers}))
        await in_db(prompt, alice, session, called("far_tell"))
        session = await drain(session)
        await answer(alice, session)
        session = await drain(session)
    [state] = await states(session)
    assert state["output"].startswith("Bearer [secret TOKEN]")
    assert VALUE not in await in_db(stored, session)


@pytest.mark.parametrize(
    ("remote", "error"),
    [
        ({"url": "http://127.0.0.1:1/"}, f"{NO_ANSWER}."),
        (
            {"headers": {"X": "{env:NONE}"}},
            "wants the secret NONE, which this project does not have, and the operators of this "
            "server have not listed it in CONFIG_ENV.",
        ),
        ({"headers": {"X": "a\r\nHost: b"}}, "header X has characters that no header may have."),
        ({"headers": {"X y": "a"}}, "header X y has characters that no header may have."),
    ],
)
async def test_one_that_cannot_be_asked_says_why(
    session: Session, project: Project, alice: User, remote: dict[str, object], error: str
) -> None:
    whole = {"type": "remote", "url": "https://mcp.example.com/", **remote}
    await in_db(lambda: set_up(project, far=whole))
    await in_db(prompt, alice, session, "hello")
    await drain(session)
    assert (await in_db(McpServer.objects.get)).error.endswith(error)
