"""What a server is asked: who it is and what tools it has, and to run one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from opencode_web.lib.json import JsonObject, JsonValue
from tools.errors import ToolError
from tools.mcp.stdio import Exchange, open_exchange
from tools.sandbox.base import Command, Sandbox

_VERSION = "2025-06-18"
MAX_PAGES = 100
MAX_TOOLS = 256


@dataclass(frozen=True)
class Offer:
    """What a server said of itself. `tools` are as it sent them: `{name, description?, …}`."""

    instructions: str
    tools: tuple[JsonObject, ...]


async def ask_for_tools(sandbox: Sandbox, command: Command, *, timeout_s: float) -> Offer:
    """Start a server and ask what it has. Raises: ToolError saying why nothing came."""
    async with _session(sandbox, command, timeout_s) as (exchange, hello):
        instructions = hello.get("instructions")
        can = hello.get("capabilities")
        listed = await _list_tools(exchange) if isinstance(can, dict) and "tools" in can else []
    return Offer(instructions if isinstance(instructions, str) else "", tuple(listed))


async def call_tool(
    sandbox: Sandbox, command: Command, name: str, arguments: JsonObject, *, timeout_s: float
) -> JsonObject:
    """Start a server and have it run one of its tools.

    Returns: its result, `{content, structuredContent?, isError?}`. Raises: ToolError.
    """
    async with _session(sandbox, command, timeout_s) as (exchange, _):
        return await exchange.request("tools/call", {"name": name, "arguments": arguments})


@contextlib.asynccontextmanager
async def _session(
    sandbox: Sandbox, command: Command, timeout_s: float
) -> AsyncIterator[tuple[Exchange, JsonObject]]:
    try:
        async with asyncio.timeout(timeout_s), open_exchange(sandbox, command) as exchange:
            hello = await exchange.request(
                "initialize",
                {
                    "protocolVersion": _VERSION,
                    "capabilities": {},
                    "clientInfo": {"name": "opencode-web", "version": "1"},
                },
            )
            await exchange.notify("notifications/initialized")
            yield exchange, hello
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
