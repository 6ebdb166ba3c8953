"""Subscribing to resources, so that a server says when they change.

Source: https://modelcontextprotocol.io/specification/2025-06-18/server/resources#subscriptions
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from functools import partial

from opencode_web.lib.json import JsonObject
from tools.mcp.calls import Call
from tools.mcp.exchange import Exchange, Greeted

# Of one server in one session.
MAX_SUBSCRIBED = 32
_GOODBYE_S = 1.0


def can_subscribe(greeted: Greeted) -> bool:
    """Whether a server says when resources change."""
    can = greeted.hello.get("capabilities")
    resources = can.get("resources") if isinstance(can, dict) else None
    return isinstance(resources, dict) and resources.get("subscribe") is True


def subscribe(greeted: Greeted, uris: Iterable[str]) -> None:
    """Ask a server that can do it to say when these resources change. Does not wait for its answer:
    a resource that it refuses counts as not subscribed.

    Raises: NotBegun.
    """
    exchange = greeted.exchange
    for uri in uris if can_subscribe(greeted) else ():
        if uri not in exchange.subscribed and len(exchange.subscribed) < MAX_SUBSCRIBED:
            call = exchange.begin("resources/subscribe", {"uri": uri})
            exchange.subscribed.add(uri)
            call.answer.add_done_callback(partial(_settle, exchange, call, uri))


def _settle(exchange: Exchange, call: Call, uri: str, answer: asyncio.Future[JsonObject]) -> None:
    exchange.end(call)
    if answer.cancelled() or answer.exception() is not None:
        exchange.subscribed.discard(uri)


async def unsubscribe(exchange: Exchange) -> None:
    """Take back what a server still has, before the exchange with it ends."""
    if exchange.is_over:
        return
    uris, exchange.subscribed = exchange.subscribed, set()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_GOODBYE_S):
            requests = (exchange.request("resources/unsubscribe", {"uri": uri}) for uri in uris)
            await asyncio.gather(*requests, return_exceptions=True)
