"""Exa and Parallel: one call of a tool over MCP's HTTP transport. Source: behaviour facts 1.11."""

from __future__ import annotations

from opencode_web.lib.json import JsonObject, JsonValue
from tools.search.engine import Engine, EngineKind, SearchError, WebQuery
from tools.search.wire import ask, parse


async def search_mcp(engine: Engine, query: WebQuery) -> str:
    """Search the web. Returns: what the engine says, empty for nothing. Raises: SearchError."""
    if engine.kind is EngineKind.PARALLEL:
        arguments: JsonObject = {"objective": query.text, "search_queries": [query.text]}
        return await _call(engine, "web_search", arguments)
    arguments = {
        "query": query.text,
        "type": query.depth,
        "numResults": query.results,
        "livecrawl": query.livecrawl,
    }
    if query.max_chars is not None:
        arguments["contextMaxCharacters"] = query.max_chars
    return await _call(engine, "web_search_exa", arguments)


async def search_code(engine: Engine, text: str, *, tokens: int) -> str:
    """Look for examples and documentation of code. Raises: SearchError."""
    arguments: JsonObject = {"query": text, "tokensNum": tokens}
    return await _call(engine, "get_code_context_exa", arguments)


async def _call(engine: Engine, tool: str, arguments: JsonObject) -> str:
    headers = {"accept": "application/json, text/event-stream"}
    if engine.key:
        headers |= (
            {"x-api-key": engine.key}
            if engine.kind is EngineKind.EXA
            else {"authorization": f"Bearer {engine.key}"}
        )
    body: JsonObject = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
    answer = await ask(engine, engine.address, headers=headers, body=body)
    return _text(engine, _message(engine, answer))


def _message(engine: Engine, answer: str) -> JsonValue:
    """The answer to our call: JSON, or an event of a stream of them."""
    if answer.lstrip().startswith("{"):
        return parse(engine, answer)
    for event in answer.replace("\r\n", "\n").split("\n\n"):
        lines = (line[5:] for line in event.split("\n") if line.startswith("data:"))
        data = "\n".join(line.removeprefix(" ") for line in lines)
        if not data.strip():
            continue
        message = parse(engine, data)
        if isinstance(message, dict) and ("result" in message or "error" in message):
            return message
    raise SearchError(f"{engine.name} did not answer as an MCP server. Check its address.")


def _text(engine: Engine, message: JsonValue) -> str:
    match message:
        case {"error": {"message": str(why)}}:
            raise SearchError(_said(engine, why))
        case {"result": {"content": list(content), **more}}:
            texts = [
                str(item["text"])
                for item in content
                if isinstance(item, dict) and isinstance(item.get("text"), str)
            ]
            text = "\n\n".join(texts).strip()
            if more.get("isError"):
                raise SearchError(_said(engine, text or "it failed"))
            return text
        case _:
            raise SearchError(f"{engine.name} did not answer as an MCP server. Check its address.")


def _said(engine: Engine, why: str) -> str:
    hidden = why.replace(engine.key, "•••") if engine.key else why
    return f"{engine.name} refused the search: {hidden[:300]}"
