from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from tests.tools.mcp.caller import Person
from tests.tools.mcp.remote_servers import living
from tests.tools.mcp.test_remote import HEAD, message
from tests.tools.mcp.test_sampling import ANSWER
from tests.web_server import answer, raw, serve_any
from tools.context import Suspended
from tools.errors import ToolError
from tools.mcp.client import call_tool
from tools.mcp.content import read_result
from tools.mcp.pool import Kept, Key, Pool
from tools.mcp.remote import Address
from tools.mcp.sampling import read_request


@pytest.fixture(scope="module", params=["streamable-http", "sse"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with living(request.param) as found:
        yield found


@pytest_asyncio.fixture
async def pool() -> AsyncIterator[Pool]:
    pool = Pool(4, idle_s=60)
    yield pool
    await asyncio.wait_for(pool.close(), 10)


def kept(pool: Pool, url: str, session: str = "ses_1") -> Kept:
    return Kept(pool, Key(session, "far", ""), Address(url, {}, samples=True), 20)


async def said(server: Kept, tool: str, *, timeout_s: float = 20, **given: object) -> str:
    result = await call_tool(server, tool, given, timeout_s=timeout_s, caller=Person())  # type: ignore[arg-type]
    return read_result(result).output


async def test_a_server_at_an_address_remembers_within_a_session(url: str, pool: Pool) -> None:
    first, second = kept(pool, url), kept(pool, url, "ses_2")
    assert [await said(first, "count") for _ in range(3)] == ["1", "2", "3"]
    assert await said(second, "count") == "1"
    counts = await asyncio.gather(*(said(first, "count") for _ in range(4)))
    assert sorted(counts) == ["4", "5", "6", "7"]


async def test_a_call_that_takes_too_long_leaves_the_others(url: str, pool: Pool) -> None:
    server = kept(pool, url)
    assert await said(server, "count") == "1"
    slow = asyncio.create_task(said(server, "slow", timeout_s=1))
    assert await said(server, "count") == "2"
    with pytest.raises(ToolError, match="longer than 1 s"):
        await slow
    assert await said(server, "count") == "3"


async def test_changes_are_heard_while_nothing_is_asked(url: str, pool: Pool) -> None:
    changes: list[Key] = []
    pool.on_change = lambda key, in_call: changes.append(key)
    server = kept(pool, url)
    assert await said(server, "grow") == "grown"
    async with asyncio.timeout(5):
        while not changes:
            await asyncio.sleep(0.01)
    assert changes == [server.key]


async def test_progress_and_forms_arrive(url: str, pool: Pool) -> None:
    server, person = kept(pool, url), Person()
    await call_tool(server, "steps", {}, timeout_s=20, caller=person)
    assert "1/3 reading" in person.shown
    with pytest.raises(Suspended):
        await call_tool(server, "form", {}, timeout_s=20, caller=person)
    [asked] = person.asked
    assert asked["message"] == "How many?"
    person.answer = {"action": "accept", "content": {"count": 3}}
    result = await call_tool(server, "form", {}, timeout_s=20, caller=person)
    assert read_result(result).output == "accept count=3"


async def test_a_model_answers_a_genuine_server(url: str, pool: Pool) -> None:
    person = Person(sampled=ANSWER)
    person.answers.set()
    result = await call_tool(kept(pool, url), "sample", {}, timeout_s=20, caller=person)
    assert read_result(result).output == "Sencha of m"
    [(asked, _)] = person.samples
    request = read_request("living", asked)
    assert (request.system, request.messages[0].content) == ("Be brief.", ("Name a tea.",))


async def test_a_server_that_was_started_again_is_greeted_again(pool: Pool) -> None:
    with living("streamable-http") as url:
        port = urlsplit(url).port or 0
        server = kept(pool, url)
        assert [await said(server, "count") for _ in range(2)] == ["1", "2"]
    with living("streamable-http", port) as url:
        # It does not know the session, so what was asked for has not begun.
        assert await said(server, "count") == "1"


async def test_one_answer_that_fails_leaves_the_session(pool: Pool) -> None:
    def take(handler: BaseHTTPRequestHandler) -> None:
        if handler.command == "GET":
            answer(b"", status=405)(handler)
            return
        asked = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        number = asked.get("id")
        methods.append(asked.get("method"))
        if number is None:
            answer(b"", status=202)(handler)
        elif asked["method"] == "initialize":
            message({"protocolVersion": "2025-06-18", "capabilities": {}})(handler)
        else:
            fates[asked["params"]["name"]](handler)

    methods: list[str] = []
    fates = {
        "broken": answer(b"no such shelf", status=500),
        "cut": raw(
            b"HTTP/1.0 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{"
        ),
        "large": raw(HEAD + b": " + b"\n: ".join([b"y" * 1_000_000] * 70)),
    }
    with serve_any(take) as base:
        server = kept(pool, base)
        with pytest.raises(ToolError, match="responded with status 500: no such shelf"):
            await said(server, "broken")
        with pytest.raises(ToolError, match="cut off"):
            await said(server, "cut")
        assert methods.count("initialize") == 1
        with pytest.raises(ToolError, match="more than 64 MiB"):
            await said(server, "large")
