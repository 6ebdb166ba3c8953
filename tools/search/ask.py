from __future__ import annotations

from tools.search.engine import Engine, EngineKind, WebQuery
from tools.search.list_engines import search_list
from tools.search.mcp_engines import search_mcp


async def search_web(engine: Engine, query: WebQuery) -> str:
    """Ask an engine. Returns: text for a model, empty for nothing found. Raises: SearchError."""
    if engine.kind in {EngineKind.EXA, EngineKind.PARALLEL}:
        return await search_mcp(engine, query)
    return await search_list(engine, query)
