from __future__ import annotations

import pytest

from tests.fakes import FakeToolContext
from tests.tools.search.engines import EngineServer, mcp
from tests.web_server import serve
from tools.base import ToolError
from tools.context import PermissionAsk
from tools.errors import PermissionDenied
from tools.search.engine import Engine, EngineKind


async def test_it_asks_and_tells_what_the_engine_found(context: FakeToolContext) -> None:
    server = EngineServer(mcp("found it"))
    with serve(server) as base:  # type: ignore[arg-type]
        context.engine = Engine(EngineKind.EXA, base)
        result = await context.call("websearch", query="what is new", numResults=2)
        code = await context.call("codesearch", query="httpx stream")
    assert (result.title, result.output) == ("Exa Web Search: what is new", "found it")
    assert result.metadata == {"provider": "exa", "truncated": False}
    assert (code.title, code.output) == ("Code search: httpx stream", "found it")
    web, second = context.asks
    assert (web.permission, web.patterns, web.always) == ("websearch", ("what is new",), ("*",))
    assert web.metadata == {"query": "what is new", "numResults": 2}
    assert (second.permission, second.patterns) == ("codesearch", ("httpx stream",))
    assert server.asked[0]["params"]["arguments"]["numResults"] == 2
    assert server.asked[1]["params"]["arguments"]["tokensNum"] == 5_000


async def test_nothing_found_is_no_error(context: FakeToolContext) -> None:
    with serve(EngineServer(mcp())) as base:  # type: ignore[arg-type]
        context.engine = Engine(EngineKind.EXA, base)
        assert "try a different query" in (await context.call("websearch", query="x")).output
        assert "other words" in (await context.call("codesearch", query="x")).output


@pytest.mark.parametrize("tool", ["websearch", "codesearch"])
async def test_without_an_engine_it_says_who_can_help(context: FakeToolContext, tool: str) -> None:
    with pytest.raises(ToolError, match="admin of the team"):
        await context.call(tool, query="x")


async def test_only_exa_finds_code(context: FakeToolContext) -> None:
    context.engine = Engine(EngineKind.BRAVE, "https://x.example", "key")
    with pytest.raises(ToolError, match="Brave has no search for code"):
        await context.call("codesearch", query="x")


async def test_a_failing_engine_is_the_models_to_know(context: FakeToolContext) -> None:
    with serve(EngineServer(b"down", status=503)) as base:  # type: ignore[arg-type]
        context.engine = Engine(EngineKind.SEARXNG, base)
        with pytest.raises(ToolError, match="SearXNG answered 503: down"):
            await context.call("websearch", query="x")


async def test_nothing_is_asked_before_the_answer(context: FakeToolContext) -> None:
    def deny(_ask: PermissionAsk) -> None:
        raise PermissionDenied("no")

    context.on_ask = deny
    server = EngineServer(mcp())
    with serve(server) as base:  # type: ignore[arg-type]
        context.engine = Engine(EngineKind.EXA, base)
        with pytest.raises(PermissionDenied):
            await context.call("websearch", query="x")
    assert server.asked == []


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("websearch", {}, "query"),
        ("websearch", {"query": ""}, "query"),
        ("websearch", {"query": "x", "numResults": 0}, "numResults"),
        ("websearch", {"query": "x", "type": "slow"}, "type"),
        ("codesearch", {"query": "x", "tokensNum": 10}, "tokensNum"),
    ],
)
async def test_wrong_arguments_are_named(
    context: FakeToolContext, tool: str, arguments: dict[str, object], field: str
) -> None:
    with pytest.raises(ToolError, match=field):
        await context.call(tool, **arguments)
