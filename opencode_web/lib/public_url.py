"""Where people reach this server, which may be below a path that other sites are beside."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest


def site_origin() -> str:
    """Returns: scheme, host and port of it, before the path that `reverse` gives."""
    return base_url().removesuffix(settings.BASE_PATH)


def absolute_url(request: HttpRequest, path: str) -> str:
    """Returns: the address for people outside, of a path that `reverse` gives."""
    if settings.PUBLIC_ORIGIN:
        return f"{settings.PUBLIC_ORIGIN}{path}"
    return request.build_absolute_uri(path)


def without_base(path: str) -> str:
    """Returns: the path as routes name it, without BASE_PATH."""
    return path.removeprefix(settings.BASE_PATH)


def base_url() -> str:
    """Returns: where people reach this server, without a slash at the end."""
    if settings.PUBLIC_URL:
        return str(settings.PUBLIC_URL)
    host = str(settings.LISTEN_HOST)
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)  # noqa: S104 - not bound here
    return f"http://{host}:{settings.LISTEN_PORT}{settings.BASE_PATH}"
