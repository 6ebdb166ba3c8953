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
from opencode_web.middleware import EitherMiddleware

_API = re.compile(API_PATHS)
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
    "Access-Control-Allow-Headers": (
        "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, x-opencode-directory, "
        "x-opencode-ticket"
    ),
    "Access-Control-Max-Age": "600",
}
_EXPOSED = "ETag, Link, Retry-After, X-Next-Cursor, X-Unknown-Keys"


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
    return HttpResponse(status=204, headers=_PREFLIGHT) if asks and _origin(request) else None


def _with_origin(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    if settings.CORS_ORIGINS and _is_api(request):
        patch_vary_headers(response, ["Origin"])
        if origin := _origin(request):
            response["Access-Control-Allow-Origin"] = origin
            response["Access-Control-Expose-Headers"] = _EXPOSED
    return response


def _origin(request: HttpRequest) -> str:
    """Returns: where the request comes from, if that may call the API."""
    origin = request.headers.get("Origin", "")
    return origin if origin in settings.CORS_ORIGINS and _is_api(request) else ""


def _is_api(request: HttpRequest) -> bool:
    return _API.match(request.path_info.removeprefix("/")) is not None
