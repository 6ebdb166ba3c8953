from __future__ import annotations

from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from django.conf import settings
from django.urls import path, re_path

from sessions.consumers.live import LiveConsumer
from sessions.consumers.terminal import TerminalConsumer

_BASE = f"{settings.BASE_PATH}/".removeprefix("/")
_CONNECT = rf"^{_BASE}(?:api/)?pty/(?P<terminal_id>\w{1, 40})/connect$"

websocket_application = AuthMiddlewareStack(
    URLRouter(
        [
            path(f"{_BASE}ws/", LiveConsumer.as_asgi()),
            # OpenCode's clients connect at both.
            re_path(_CONNECT, TerminalConsumer.as_asgi()),
        ]
    )
)
