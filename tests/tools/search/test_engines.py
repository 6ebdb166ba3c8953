from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from opencode_web.lib.outbound import NO_ANSWER
from tests.tools.search.engines import EngineServer, events, mcp
from tests.web_server import serve
from tools.search.ask import search_web
from tools.search.engine import Engine, EngineKind, SearchError, WebQuery
from tools.search.mcp_engines import search_code

KEY = "sk-very-secret-key"
SEARXNG = {
    "results": [
        {"title": "A &amp; B", "url": "https://a.example/", "content": "About\nit"},
        {"title": "Two\nlines", "url": "https://b.example/", "content": None},
    ]
}
BRAVE = {
    "type": "search",
    "web": {
        "results": [
            {
                "title": "A",
                "url": "https://a.example/",
                "description": "<strong>Found</strong> &lt;b",
            }
        ]
    },
}


@pytest.fixture
def server() -> EngineServer:
    return EngineServer()


@pytest.fixture
def base(server: EngineServer) -> Iterator[str]:
    with ExitStack() as stack:
        yield stack.enter_context(serve(server))  # type: ignore[arg-type]


def engine(kind: EngineKind, address: str, key: str = KEY) -> Engine:
    return Engine(kind, address, key)


async def test_exa_is_asked_by_its_tool(server: EngineServer, base: str) -> None:
    server.reply, server.mime = events(b'{"method": "x"}', mcp("one", "two")), "text/event-stream"
    query = WebQuery("django", results=3, depth="deep", livecrawl="preferred", max_chars=500)
    assert await search_web(engine(EngineKind.EXA, base + "/mcp"), query) == "one\n\ntwo"
    assert server.asked[0]["method"] == "tools/call"
    assert server.asked[0]["params"] == {
        "name": "web_search_exa",
        "arguments": {
            "query": "django",
            "type": "deep",
            "numResults": 3,
            "livecrawl": "preferred",
            "contextMaxCharacters": 500,
        },
    }
    assert server.headers[0]["x-api-key"] == KEY
    assert server.headers[0]["accept"] == "application/json, text/event-stream"


async def test_exa_without_a_key_sends_none(server: EngineServer, base: str) -> None:
    server.reply = mcp()
    assert await search_web(engine(EngineKind.EXA, base, ""), WebQuery("x")) == ""
    assert "x-api-key" not in server.headers[0]


async def test_code_is_looked_for_by_exas_other_tool(server: EngineServer, base: str) -> None:
    server.reply = mcp("code")
    assert await search_code(engine(EngineKind.EXA, base), "httpx stream", tokens=2_000) == "code"
    assert server.asked[0]["params"] == {
        "name": "get_code_context_exa",
        "arguments": {"query": "httpx stream", "tokensNum": 2_000},
    }


async def test_parallel_is_asked_by_its_tool(server: EngineServer, base: str) -> None:
    server.reply = mcp("found")
    assert await search_web(engine(EngineKind.PARALLEL, base), WebQuery("x y")) == "found"
    assert server.asked[0]["params"] == {
        "name": "web_search",
        "arguments": {"objective": "x y", "search_queries": ["x y"]},
    }
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


async def test_searxng_gives_a_list(server: EngineServer, base: str) -> None:
    server.reply = json.dumps(SEARXNG).encode()
    found = await search_web(engine(EngineKind.SEARXNG, base + "/sub", ""), WebQuery("x & y"))
    assert found == (
        "Title: A & B\nURL: https://a.example/\nAbout\nit\n\n"
        "Title: Two lines\nURL: https://b.example/"
    )
    assert server.paths == ["/sub/search"]
    assert server.asked == [{"q": "x & y", "format": "json"}]
    one = WebQuery("x", results=1, max_chars=12)
    assert await search_web(engine(EngineKind.SEARXNG, base, ""), one) == "Title: A & B"


async def test_brave_gives_a_list(server: EngineServer, base: str) -> None:
    server.reply = json.dumps(BRAVE).encode()
    found = await search_web(engine(EngineKind.BRAVE, base), WebQuery("x", results=30))
    assert found == "Title: A\nURL: https://a.example/\nFound <b"
    assert server.paths == ["/res/v1/web/search"]
    assert server.asked == [{"q": "x", "count": "20"}]
    assert server.headers[0]["x-subscription-token"] == KEY
    server.reply = b'{"type": "search"}'
    assert await search_web(engine(EngineKind.BRAVE, base), WebQuery("x")) == ""


@pytest.mark.parametrize("kind", EngineKind)
@pytest.mark.parametrize(
    ("status", "reply", "why"),
    [
        (401, b"bad key sk-very-secret-key", "answered 401: bad key •••"),
        (403, b"no", "403|JSON"),
        (429, b"", "asked too often"),
        (500, b"oops", "answered 500: oops"),
        (302, b"", "answered 302"),
        (200, b"<html>", "JSON|MCP"),
        (200, b"[" * 100_000, "JSON|MCP"),
        (200, b"{}", "MCP|without a list"),
        (200, b"[]", "MCP|without a list"),
        (200, b'{"result": {"content": 5}, "results": 5, "web": 5}', "MCP|without a list"),
        (200, b"x" * 2_100_000, "too large"),
    ],
)
async def test_what_is_no_answer_is_said_without_the_key(
    server: EngineServer, base: str, kind: EngineKind, status: int, reply: bytes, why: str
) -> None:
    server.status, server.reply = status, reply
    server.extra = {"location": "/other"} if status == 302 else {}
    with pytest.raises(SearchError, match=why) as caught:
        await search_web(engine(kind, base), WebQuery("x"))
    assert KEY not in str(caught.value)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "reply",
    [
        mcp(f"wrong {KEY}", error=True),
        json.dumps({"error": {"code": 1, "message": f"wrong {KEY}"}}).encode(),
    ],
)
async def test_a_refusal_of_an_mcp_server_is_an_error(
    server: EngineServer, base: str, reply: bytes
) -> None:
    server.reply = reply
    with pytest.raises(SearchError, match="refused the search: wrong •••"):
        await search_web(engine(EngineKind.EXA, base), WebQuery("x"))


@pytest.mark.parametrize("kind", EngineKind)
@pytest.mark.usefixtures("private_closed")
async def test_private_addresses_are_reached_with_the_operators_leave_only(
    server: EngineServer, base: str, kind: EngineKind
) -> None:
    with pytest.raises(SearchError, match=NO_ANSWER):
        await search_web(Engine(kind, base, KEY), WebQuery("x"))
    with pytest.raises(SearchError, match=NO_ANSWER):
        await search_web(Engine(kind, "http://169.254.169.254", KEY), WebQuery("x"))
    assert server.asked == []


def test_an_engine_never_shows_its_key() -> None:
    assert KEY not in repr(engine(EngineKind.EXA, "https://x.example"))
