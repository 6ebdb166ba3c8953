"""The MCP library's streamable HTTP, one request at a time.

It is stateless: no session, no stream from the server, and each answer is one JSON document. So any
web process can answer any request.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from opencode_web.lib.json import JsonValue

_App = Callable[[Any, Any, Any], Awaitable[None]]  # as ASGI types them


async def serve(server: Server[Any], request: HttpRequest, body: JsonValue) -> HttpResponse:
    """Returns: what the library answers to a POST with this body."""
    manager = StreamableHTTPSessionManager(
        server,
        json_response=True,
        stateless=True,
        max_request_body_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE * 2,
    )
    async with manager.run():
        return await _call(manager.handle_request, request, json.dumps(body).encode())


async def _call(app: _App, request: HttpRequest, body: bytes) -> HttpResponse:
    """Call an ASGI application within the request."""
    assert isinstance(request, ASGIRequest)
    incoming = [{"type": "http.request", "body": body, "more_body": False}]
    response = HttpResponse()

    async def receive() -> dict[str, Any]:
        if not incoming:
            # Whoever hangs up has the view itself cancelled.
            await asyncio.Event().wait()
        return incoming.pop()

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            response.status_code = message["status"]
            del response["Content-Type"]
            for name, value in message.get("headers", ()):
                response[name.decode("latin-1")] = value.decode("latin-1")
        else:
            response.write(message.get("body", b""))

    # Without the length of the body as it came.
    headers = [pair for pair in request.scope["headers"] if pair[0] != b"content-length"]
    await app({**request.scope, "headers": headers}, receive, send)
    return response
