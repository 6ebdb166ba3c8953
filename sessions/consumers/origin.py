"""Which page has opened a socket."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import validate_host


def origin_of(scope: dict[str, Any]) -> str:  # as ASGI types it
    """Returns: what a browser says of the page that opened the socket; empty for others."""
    return _header(scope, b"origin")


def is_own_origin(scope: dict[str, Any]) -> bool:  # as ASGI types it
    """Whether a page of this server opened the socket: cookies alone would let any page do it."""
    origin = origin_of(scope)
    if not origin:
        return False
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    host = _header(scope, b"host")
    name = urlsplit(f"//{host}").hostname or ""
    allowed = settings.ALLOWED_HOSTS or ["localhost", "127.0.0.1"]
    return urlsplit(origin).netloc == host and validate_host(
        f"[{name}]" if ":" in name else name, allowed
    )


def _header(scope: dict[str, Any], name: bytes) -> str:
    values = [value for key, value in scope.get("headers", []) if key == name]
    return str(values[-1].decode("latin-1")) if values else ""
