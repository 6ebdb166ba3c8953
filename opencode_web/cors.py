"""Lets browsers on other origins call the API with a token: the origins of `CORS_ORIGINS`.

Cookies are never accepted from there: no response allows credentials.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers

from opencode_web.api_paths import API_PATHS
from opencode_web.lib.public_url import without_base
from opencode_web.middleware import EitherMiddleware

_API = re.compile(API_PATHS)
# What a page asks that is an MCP client and has no token yet.
_OAUTH = re.compile(r"oauth/(?:register|token|revoke)\Z|\.well-known/oauth-")
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
    "Access-Control-Allow-Headers": (
        "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Mcp-Method, Mcp-Name, "
        "MCP-Protocol-Version, Mcp-Session-Id, x-opencode-directory, x-opencode-ticket"
    ),
    "Access-Control-Max-Age": "600",
}
_EXPOSED = (
    "ETag, Link, Mcp-Session-Id, Retry-After, WWW-Authenticate, X-Next-Cursor, X-Unknown-Keys"
)


class CorsMiddleware(EitherMiddleware):
    """Answer preflights of the API, and let listed origins read its responses."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if self.is_async:
            return self._respond(request)
        response = _preflight(request) or self.get_response(request)
        assert isinstance(response, HttpResponseBase)
        return _with_origin(request, response)

    async def _respond(self, request: HttpRequest) -> HttpResponseBase:
        response = _preflight(request) or self.get_response(request)
        return _with_origin(
            request, response if isinstance(response, HttpResponseBase) else await response
        )


def _preflight(request: HttpRequest) -> HttpResponse | None:
    """Returns: the response to a preflight of a listed origin."""
    asks = request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers
    return HttpResponse(status=204, headers=_PREFLIGHT) if asks and _is_listed(request) else None


def grants_of(path: str, origin: str) -> dict[str, str]:
    """Returns: the headers by which a page of that origin may read the answer to a request."""
    if not settings.CORS_ORIGINS or not _is_api(path):
        return {}
    shared = {"Vary": "Origin"}
    if origin not in settings.CORS_ORIGINS:
        return shared
    return {
        **shared,
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Expose-Headers": _EXPOSED,
    }


def _with_origin(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    for name, value in grants_of(request.path_info, request.headers.get("Origin", "")).items():
        if name == "Vary":
            patch_vary_headers(response, [value])
        else:
            response[name] = value
    return response


def _is_listed(request: HttpRequest) -> bool:
    """Whether it comes from where the API may be called."""
    origin = request.headers.get("Origin", "")
    return origin in settings.CORS_ORIGINS and _is_api(request.path_info)


def _is_api(path: str) -> bool:
    below = without_base(path).removeprefix("/")
    return (_API.match(below) or _OAUTH.match(below)) is not None
