from __future__ import annotations

from pydantic import Field

from opencode_web.lib.json import JsonObject
from tools.base import Params, Tool, ToolError, ToolResult, load_description
from tools.builtin.websearch import NOT_SET_UP
from tools.context import PermissionAsk, ToolContext
from tools.search.engine import SearchError
from tools.search.mcp_engines import search_code

_NOTHING = (
    "No code was found. Name the library and its version, or describe in other words what it "
    "shall do."
)


class CodesearchParams(Params):
    """What to look for, and how much of it."""

    query: str = Field(min_length=1, max_length=2_000, description="What to search for.")
    tokens: int = Field(
        5_000,
        alias="tokensNum",
        ge=1_000,
        le=50_000,
        description="About how much text comes back, in tokens.",
    )


async def run(params: CodesearchParams, context: ToolContext) -> ToolResult:
    """Ask the search engine of the team for code."""
    metadata: JsonObject = {"query": params.query, "tokensNum": params.tokens}
    await context.ask(PermissionAsk("codesearch", (params.query,), metadata=metadata))
    engine = await context.search_engine()
    if engine is None or not engine.finds_code:
        raise ToolError(NOT_SET_UP if engine is None else f"{engine.name} has no search for code.")
    try:
        found = await search_code(engine, params.query, tokens=params.tokens)
    except SearchError as exc:
        raise ToolError(str(exc)) from exc
    title = f"Code search: {params.query}"
    return ToolResult(title, found or _NOTHING, {"provider": engine.kind.value})


TOOL = Tool("codesearch", CodesearchParams, run, "codesearch", load_description(__file__))
