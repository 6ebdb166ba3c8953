"""Requests of MCP clients: who calls, how often, and from which site."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError, Forbidden, Unauthorized
from opencode_web.lib.json_body import parse_json
from opencode_web.mcp_server.oauth.metadata import challenge
from opencode_web.mcp_server.server import server_for
from opencode_web.mcp_server.transport import serve
from sessions.api.auth import authenticate
from sessions.api.faults import error_body
from sessions.api.rates import with_rate
from teams.auth import Principal


async def respond(request: HttpRequest) -> HttpResponseBase:
    """Returns: what MCP wants as the response to a GET or POST."""
    if request.method != "POST":
        # There is no stream from the server to its clients.
        return HttpResponse(status=405, headers={"Allow": "POST"})
    try:
        _require_own_origin(request)
        principal = await in_db(_authenticate, request)
        body = parse_json(request.body)
    except AppError as exc:
        return _refuse(request, exc)
    response = await serve(server_for(principal, request), request, body)
    response["Cache-Control"] = "no-store"
    return with_rate(request, response)


def _authenticate(request: HttpRequest) -> Principal:
    """Raises: as `authenticate`; Unauthorized for a browser's cookie."""
    if not request.headers.get("Authorization"):
        raise Unauthorized("Send an API token, or one that you get by OAuth, as Bearer.")
    return authenticate(request, for_mcp=True)


def _require_own_origin(request: HttpRequest) -> None:
    """Keep out pages of other sites, also those that made their name lead to this server.

    Raises: Forbidden. Source: the transport's security warning in the MCP specification.
    """
    origin = request.headers.get("Origin")
    known = (*settings.CSRF_TRUSTED_ORIGINS, *settings.CORS_ORIGINS)
    if origin is None or origin in known or urlsplit(origin).netloc == request.get_host():
        return
    raise Forbidden("This request was sent by a page of another site.")


def _refuse(request: HttpRequest, error: AppError) -> HttpResponseBase:
    response = JsonResponse(error_body(request, error), status=error.status)
    if error.status == 401:
        response["WWW-Authenticate"] = challenge(request)
    if "retryAfter" in error.data:
        response["Retry-After"] = str(error.data["retryAfter"])
    return with_rate(request, response)
