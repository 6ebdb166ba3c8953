"""Where people reach this server."""

from __future__ import annotations

from django.conf import settings


def base_url() -> str:
    """Returns: where people reach this server, without a slash at the end."""
    if settings.PUBLIC_URL:
        return str(settings.PUBLIC_URL)
    host = str(settings.LISTEN_HOST)
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)  # noqa: S104 - not bound here
    return f"http://{host}:{settings.LISTEN_PORT}"
