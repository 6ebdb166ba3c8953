from __future__ import annotations

from typing import Literal

from pydantic import Field

from opencode_web.lib.json import JsonObject
from tools.base import Params, Tool, ToolError, ToolResult, load_description
from tools.context import PermissionAsk, ToolContext
from tools.search.ask import search_web
from tools.search.engine import SearchError, WebQuery

# Source of the words and figures: OpenCode 1.18.
NOTHING = "No search results found. Please try a different query."
NOT_SET_UP = "No search engine is set up here. An admin of the team does that under Settings."


class WebsearchParams(Params):
    """What to look for, and how thoroughly."""

    query: str = Field(min_length=1, max_length=2_000, description="What to search for.")
    num_results: int | None = Field(
        None, alias="numResults", ge=1, le=50, description="How many pages, 8 by default."
    )
    livecrawl: Literal["fallback", "preferred"] | None = Field(
        None,
        description="`preferred` has pages looked at anew, `fallback` (default) only when needed.",
    )
    type: Literal["auto", "fast", "deep"] | None = Field(
        None, description="How thorough the search is: auto (default), fast or deep."
    )
    context_max_characters: int | None = Field(
        None, alias="contextMaxCharacters", ge=1, description="How much text comes back."
    )


async def run(params: WebsearchParams, context: ToolContext) -> ToolResult:
    """Ask the search engine of the team."""
    metadata: JsonObject = params.model_dump(by_alias=True, exclude_none=True)
    await context.ask(PermissionAsk("websearch", (params.query,), metadata=metadata))
    engine = await context.search_engine()
    if engine is None:
        raise ToolError(NOT_SET_UP)
    query = WebQuery(
        params.query,
        results=params.num_results or 8,
        depth=params.type or "auto",
        livecrawl=params.livecrawl or "fallback",
        max_chars=params.context_max_characters,
    )
    try:
        found = await search_web(engine, query)
    except SearchError as exc:
        raise ToolError(str(exc)) from exc
    title = f"{engine.name} Web Search: {params.query}"
    return ToolResult(title, found or NOTHING, {"provider": engine.kind.value})


TOOL = Tool("websearch", WebsearchParams, run, "websearch", load_description(__file__))
