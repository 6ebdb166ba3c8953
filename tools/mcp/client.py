"""What a server is asked: who it is and what tools it has, and to run one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from opencode_web.lib.json import JsonObject, JsonValue
from tools.errors import ToolError
from tools.mcp.exchange import Exchange, Greeted, Server

MAX_PAGES = 100
MAX_TOOLS = 256


@dataclass(frozen=True)
class Offer:
    """What a server said of itself. `tools` are as it sent them: `{name, description?, …}`."""

    instructions: str
    tools: tuple[JsonObject, ...]


async def ask_for_tools(server: Server, *, timeout_s: float) -> Offer:
    """Ask a server what it has. Raises: ToolError saying why nothing came."""
    async with _session(server, timeout_s) as greeted:
        instructions = greeted.hello.get("instructions")
        can = greeted.hello.get("capabilities")
        offers = isinstance(can, dict) and "tools" in can
        listed = await _list_tools(greeted.exchange) if offers else []
    return Offer(instructions if isinstance(instructions, str) else "", tuple(listed))


async def call_tool(
    server: Server, name: str, arguments: JsonObject, *, timeout_s: float
) -> JsonObject:
    """Have a server run one of its tools.

    Returns: its result, `{content, structuredContent?, isError?}`. Raises: ToolError.
    """
    async with _session(server, timeout_s) as greeted:
        asked: JsonObject = {"name": name, "arguments": arguments}
        return await greeted.exchange.request("tools/call", asked)


@contextlib.asynccontextmanager
async def _session(server: Server, timeout_s: float) -> AsyncIterator[Greeted]:
    try:
        async with asyncio.timeout(timeout_s), server.connect() as greeted:
            await greeted.exchange.notify("notifications/initialized")
            yield greeted
    except TimeoutError as exc:
        raise ToolError(f"It was stopped because it took longer than {timeout_s:g} s.") from exc


async def _list_tools(exchange: Exchange) -> list[JsonObject]:
    tools: list[JsonObject] = []
    seen: set[str] = set()
    params: JsonObject = {}
    for _ in range(MAX_PAGES):
        page = await exchange.request("tools/list", params)
        found: JsonValue = page.get("tools")
        tools += [
            one for one in (found if isinstance(found, list) else []) if isinstance(one, dict)
        ]
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str) or not cursor or len(tools) >= MAX_TOOLS:
            return tools[:MAX_TOOLS]
        if cursor in seen:
            raise ToolError("It lists the same page of tools again and again.")
        seen.add(cursor)
        params = {"cursor": cursor}
    raise ToolError(f"Its list of tools has more than {MAX_PAGES} pages.")
