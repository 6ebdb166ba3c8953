from __future__ import annotations

from typing import Any

from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from django.conf import settings
from django.urls import path, re_path

from sessions.consumers.live import LiveConsumer
from sessions.consumers.terminal import TerminalConsumer
from sessions.stream.rights import GONE

_BASE = f"{settings.BASE_PATH}/".removeprefix("/")
_CONNECT = rf"^{_BASE}" r"(?:api/)?pty/(?P<terminal_id>\w{1,40})/connect$"


async def refuse_unknown(scope: Any, receive: Any, send: Any) -> None:  # as ASGI types them
    """What is nowhere is answered with 403, and not with a fault of ours that fills the log."""
    await receive()
    await send({"type": "websocket.close", "code": GONE})


websocket_application = AuthMiddlewareStack(
    URLRouter(
        [
            path(f"{_BASE}ws/", LiveConsumer.as_asgi()),
            # OpenCode's clients connect at both.
            re_path(_CONNECT, TerminalConsumer.as_asgi()),
            re_path("", refuse_unknown),  # type: ignore[arg-type]  # an ASGI application
        ]
    )
)
