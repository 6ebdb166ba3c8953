"""Websockets: the browser's frames (`live`) and terminals (`terminal`); and hosts of `preview`s."""

from __future__ import annotations

from sessions.consumers.preview import PreviewHosts
from sessions.consumers.routing import websocket_application

__all__ = ["PreviewHosts", "websocket_application"]
