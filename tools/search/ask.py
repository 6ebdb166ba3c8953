from __future__ import annotations

import html
import re

from opencode_web.lib.json import JsonValue
from tools.search.engine import Engine, EngineKind, Hit, SearchError, WebQuery, render_hits
from tools.search.mcp_engines import search_mcp
from tools.search.wire import ask, parse

# Brave gives no more at once.
_MAX_BRAVE = 20
_TAGS = re.compile(r"</?(?:strong|b|em)>")


async def search_web(engine: Engine, query: WebQuery) -> str:
    """Ask an engine. Returns: text for a model, empty for nothing found. Raises: SearchError."""
    if engine.kind in {EngineKind.EXA, EngineKind.PARALLEL}:
        return await search_mcp(engine, query)
    return await _search_list(engine, query)


async def _search_list(engine: Engine, query: WebQuery) -> str:
    """Search the web. Returns: the list, empty for nothing. Raises: SearchError."""
    hits = await (_brave if engine.kind is EngineKind.BRAVE else _searxng)(engine, query)
    text = render_hits(hits[: query.results])
    return text if query.max_chars is None else text[: query.max_chars]


async def _searxng(engine: Engine, query: WebQuery) -> list[Hit]:
    """Source: https://docs.searxng.org/dev/search_api.html; its operator has to switch JSON on."""
    try:
        text = await ask(
            engine,
            f"{engine.address}/search",
            headers={"accept": "application/json"},
            params={"q": query.text, "format": "json"},
        )
    except SearchError as exc:
        if "answered 403" in str(exc):
            raise SearchError(
                "SearXNG refuses answers in JSON: add json to search.formats in its settings.yml."
            ) from exc
        raise
    return _hits(parse(engine, text), engine, text_key="content")


async def _brave(engine: Engine, query: WebQuery) -> list[Hit]:
    """Source: https://api-dashboard.search.brave.com/app/documentation/web-search."""
    text = await ask(
        engine,
        f"{engine.address}/res/v1/web/search",
        headers={"accept": "application/json", "x-subscription-token": engine.key},
        params={"q": query.text[:400], "count": str(min(query.results, _MAX_BRAVE))},
    )
    answer = parse(engine, text)
    web = answer.get("web") if isinstance(answer, dict) else None
    if web is None and isinstance(answer, dict) and answer.get("type") == "search":
        return []
    return _hits(web, engine, text_key="description")


def _hits(answer: JsonValue, engine: Engine, *, text_key: str) -> list[Hit]:
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list):
        raise SearchError(f"{engine.name} answered without a list of results. Check its address.")
    return [
        Hit(_plain(one.get("title")), str(one.get("url") or ""), _plain(one.get(text_key)))
        for one in results
        if isinstance(one, dict)
    ]


def _plain(text: JsonValue) -> str:
    # Found words are marked up.
    return html.unescape(_TAGS.sub("", text)) if isinstance(text, str) else ""
