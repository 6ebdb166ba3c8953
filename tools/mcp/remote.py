"""Servers at an address."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import ModuleType

from opencode_web.lib.importing import without_collections
from opencode_web.lib.outbound import FetchError, check_url
from tools.errors import ToolError
from tools.mcp.exchange import Greeted


@lru_cache(maxsize=1)
def _http() -> ModuleType:
    # Not at the top of the file because it takes about 0.7 s and 60 MB, and most installations
    # never ask such a server.
    with without_collections():
        from tools.mcp import http
    return http


@lru_cache(maxsize=1)
def _oauth() -> ModuleType:
    with without_collections():
        from tools.mcp import oauth
    return oauth


async def oauth() -> ModuleType:
    """Import `tools.mcp.oauth`, once: in a thread, so that the sessions of a process go on."""
    return await asyncio.to_thread(_oauth)


@dataclass(frozen=True)
class Address:
    """A server at an address. What it is sent in `headers` may be secret."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    # Whether it may ask for answers of a model.
    samples: bool = False

    @contextlib.asynccontextmanager
    async def connect(self) -> AsyncIterator[Greeted]:
        """Greet it, the way that it speaks.

        Raises: ToolError; SignInNeeded where it wants a sign-in.
        """
        try:
            url = check_url(self.url)
        except FetchError as exc:
            raise ToolError(f"The server cannot be reached: {exc}.") from exc
        http = await asyncio.to_thread(_http)
        connecting = http.connect(url, headers=self.headers, samples=self.samples)
        async with connecting as greeted:
            yield greeted
