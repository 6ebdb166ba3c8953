"""What a server is asked: who it is, what it has, to run a tool, and for a resource."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from opencode_web.lib.json import JsonObject, JsonValue
from tools.errors import ToolError
from tools.mcp.exchange import Exchange, Greeted, NotBegun, Server, SignInNeeded
from tools.mcp.subscriptions import subscribe
from tools.mcp.tool_call import Caller, run_call

T = TypeVar("T")

MAX_PAGES = 100
MAX_TOOLS = 256
MAX_PROMPTS = 64
MAX_RESOURCES = 200


@dataclass(frozen=True)
class Offer:
    """What a server said of itself.

    `tools` are as it sent them: `{name, description?, …}`. So are `prompts`, `{name, description?,
    arguments?}`, each with its `messages` for the arguments `$1`, `$2` …, or with `refused`.
    """

    instructions: str
    tools: tuple[JsonObject, ...]
    prompts: tuple[JsonObject, ...] = ()
    # `{uri, name, description?, mimeType?}` each; None of a server that knows no resources.
    resources: tuple[JsonObject, ...] | None = None
    # Why there are no prompts or resources, in sentences.
    problems: tuple[str, ...] = ()


async def ask_for_tools(server: Server, *, timeout_s: float) -> Offer:
    """Ask a server what it has. Raises: ToolError saying why nothing came."""
    return await _asking(server, _offer, timeout_s)


async def call_tool(
    server: Server, name: str, arguments: JsonObject, *, timeout_s: float, caller: Caller
) -> JsonObject:
    """Have a server run one of its tools.

    Returns: its result, `{content, structuredContent?, isError?}`. Raises: ToolError; Suspended.
    """
    asked: JsonObject = {"name": name, "arguments": arguments}
    return await _asking(
        server, lambda to, limit: run_call(to.exchange, asked, caller, limit), timeout_s
    )


async def list_resources(server: Server, *, templates: bool, timeout_s: float) -> list[JsonObject]:
    """Ask a server for its resources, or for the templates of their addresses.

    Returns: them as it sent them, `{uri | uriTemplate, name, …}`. Raises: ToolError.
    """
    what, key = ("resources/templates", "resourceTemplates") if templates else ("resources", "")
    return await _asking(
        server, lambda to, _: _list(to.exchange, what, key=key, most=MAX_RESOURCES), timeout_s
    )


async def read_resource(
    server: Server, uri: str, *, timeout_s: float, subscribes: bool = False
) -> JsonObject:
    """Returns: what a resource holds, `{contents: [{uri, mimeType?, text | blob}]}`.

    `subscribes`: the server is to say when that changes. Raises: ToolError.
    """
    asked: JsonObject = {"uri": uri}

    async def read(to: Greeted, _: asyncio.Timeout) -> JsonObject:
        subscribe(to, [uri] if subscribes else [])
        return await to.exchange.request("resources/read", asked)

    return await _asking(server, read, timeout_s)


async def challenge_of(server: Server, *, timeout_s: float) -> str | None:
    """Returns: the challenge of a server that requires a sign-in, else None. Raises: ToolError."""
    try:
        await _asking(server, _nothing, timeout_s)
    except SignInNeeded as exc:
        return exc.challenge
    return None


async def _asking(
    server: Server, use: Callable[[Greeted, asyncio.Timeout], Awaitable[T]], timeout_s: float
) -> T:
    try:
        async with asyncio.timeout(timeout_s) as limit:
            try:
                async with server.connect() as greeted:
                    return await use(greeted, limit)
            except NotBegun:
                # Another one is there by now, and this one has done nothing.
                async with server.connect() as greeted:
                    return await use(greeted, limit)
    except TimeoutError as exc:
        raise ToolError(
            f"The call was stopped because it took longer than {timeout_s:g} s."
        ) from exc


async def _nothing(greeted: Greeted, limit: asyncio.Timeout) -> None:
    """To be let in was all."""


async def _offer(greeted: Greeted, limit: asyncio.Timeout) -> Offer:
    exchange, hello = greeted.exchange, greeted.hello
    said, can = hello.get("instructions"), hello.get("capabilities")
    offers = can if isinstance(can, dict) else {}
    tools = await _list(exchange, "tools", most=MAX_TOOLS) if "tools" in offers else []
    prompts, no_prompts = await _prompts(exchange) if "prompts" in offers else ([], "")
    resources, none = await _resources(exchange) if "resources" in offers else (None, "")
    return Offer(
        said if isinstance(said, str) else "",
        tuple(tools),
        tuple(prompts),
        None if resources is None else tuple(resources),
        tuple(problem for problem in (no_prompts, none) if problem),
    )


def arguments_of(prompt: JsonObject) -> list[JsonObject]:
    """Returns: what a prompt can be given, `{name, …}` each, in its order."""
    return _objects(prompt.get("arguments"))


def _objects(found: JsonValue) -> list[JsonObject]:
    return [one for one in (found if isinstance(found, list) else []) if isinstance(one, dict)]


async def _list(exchange: Exchange, what: str, *, most: int, key: str = "") -> list[JsonObject]:
    """`key`: of the items in an answer, where it is not what they are asked by."""
    items: list[JsonObject] = []
    seen: set[str] = set()
    params: JsonObject = {}
    for _ in range(MAX_PAGES):
        page = await exchange.request(f"{what}/list", params)
        items += _objects(page.get(key or what))
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str) or not cursor or len(items) >= most:
            return items[:most]
        if cursor in seen:
            raise ToolError(f"The server returns the same page of {what} again and again.")
        seen.add(cursor)
        params = {"cursor": cursor}
    raise ToolError(f"The server's list of {what} has more than {MAX_PAGES} pages.")


async def _prompts(exchange: Exchange) -> tuple[list[JsonObject], str]:
    """A server whose prompts do not work may have tools that do."""
    try:
        listed = await _list(exchange, "prompts", most=MAX_PROMPTS)
    except ToolError as exc:
        return [], f"It has no prompts: {exc.message}"
    return [await _with_messages(exchange, one) for one in listed], ""


async def _resources(exchange: Exchange) -> tuple[list[JsonObject], str]:
    try:
        return await _list(exchange, "resources", most=MAX_RESOURCES), ""
    except ToolError as exc:
        return [], f"Resources cannot be listed: {exc.message}"


async def _with_messages(exchange: Exchange, prompt: JsonObject) -> JsonObject:
    arguments: JsonObject = {
        str(one.get("name")): f"${number}" for number, one in enumerate(arguments_of(prompt), 1)
    }
    asked: JsonObject = {"name": prompt.get("name"), "arguments": arguments}
    try:
        answer = await exchange.request("prompts/get", asked)
    except ToolError as exc:
        return {**prompt, "refused": exc.message}
    return {**prompt, "messages": answer.get("messages")}
