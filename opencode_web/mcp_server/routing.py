"""Two protocols at one address: MCP, and OpenCode's own routes about the MCP servers it uses."""

from __future__ import annotations

from asgiref.sync import sync_to_async
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import resolve

VERSION_HEADER = "MCP-Protocol-Version"


def is_for_api(request: HttpRequest) -> bool:
    """Whether it is one of OpenCode's.

    Clients of MCP must accept event streams with every request; those of OpenCode's API never do
    here, and its DELETE is no request of a client that was given no session.
    Source: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports
    """
    if request.method not in ("GET", "POST"):
        return True
    accepted = request.headers.get("Accept", "").lower()
    return "text/event-stream" not in accepted and VERSION_HEADER not in request.headers


async def to_api(request: HttpRequest) -> HttpResponseBase:
    """Returns: what OpenCode's route answers."""
    match = resolve("/mcp", urlconf="opencode_web.api")
    response: HttpResponseBase = await sync_to_async(match.func)(request)
    return response
