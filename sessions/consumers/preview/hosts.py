"""Which requests are for a preview. All others go on to the server's own application."""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable
from typing import Any

from sessions.previews.origin import label_of

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Application = Callable[[Any, Any, Any], Awaitable[Any]]  # servers and frameworks type it apart


class PreviewHosts:
    """In front of the server's own application."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", ()))
        label = label_of(headers.get(b"host", b"").decode("latin-1"))
        if label is None:
            await self._application(scope, receive, send)
            return
        # By name, at the first request: few servers have previews, and the websockets library
        # would be a tenth of a second of each start.
        app = importlib.import_module("sessions.consumers.preview.app")
        await app.serve_preview(label, scope, receive, send)
