"""Websockets: the browser's frames (`live`) and terminals (`terminal`)."""

from __future__ import annotations

from sessions.consumers.routing import websocket_application

__all__ = ["websocket_application"]
