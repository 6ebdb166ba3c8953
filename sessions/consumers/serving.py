"""What every websocket of ours has in common: one task that serves it, which ends with it."""

from __future__ import annotations

import asyncio
from io import BytesIO
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer
from django.core.handlers.asgi import ASGIRequest

from opencode_web.lib.origin import originating
from opencode_web.lib.sockets import counted_socket
from sessions.stream.rights import COME_BACK
from teams.http import origin_of


class ServingConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels ships no types
    """Ends `_serving` with the socket, and the socket with a code of ours when the server stops."""

    # These subscribe through the hub; a channel of its own would be one more for each socket.
    channel_layer_alias = "none"

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # as the base class
        super().__init__(*args, **kwargs)
        self._serving: asyncio.Task[None] | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # as ASGI types them
        try:
            request = ASGIRequest({**scope, "type": "http", "method": "GET"}, BytesIO())
            with counted_socket(), originating(origin_of(request)):
                await super().__call__(scope, receive, send)
        except asyncio.CancelledError:
            # The server stops: without a code of its own, clients would see a fault.
            await send({"type": "websocket.close", "code": COME_BACK})
            raise
        finally:
            if self._serving is not None:
                self._serving.cancel()
