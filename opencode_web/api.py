"""OpenCode's HTTP API at the root paths: the routers, one error shape, and `/doc`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path, re_path
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError
from ninja.parser import Parser

from opencode_web.lib.errors import AppError, Invalid, NotFound, TooLarge
from opencode_web.lib.ids import new_id
from opencode_web.lib.json_body import parse_json
from sessions.api import (
    catalog,
    config,
    events,
    history,
    inbox,
    permissions,
    projects,
    questions,
    transfer,
)
from sessions.api import sessions as session_routes
from sessions.api.auth import TokenOrCookie
from sessions.api.openapi import describe

logger = logging.getLogger(__name__)

_KINDS = {"body": "Payload", "query": "Query", "path": "Params", "header": "Headers"}
# Below these, whatever is not routed is unknown to the API, not to a person with a browser.
_PREFIXES = (
    r"^(?:agent|api|app|auth|command|config|doc|event|experimental|file|find|formatter|global"
    r"|instance|log|lsp|mcp|path|permission|project|provider|pty|question|session|skill|sync|tui"
    r"|vcs)(?:/.*)?\Z"
)


class JsonParser(Parser):
    """JSON bodies as they can be stored and sent on."""

    def parse_body(self, request: HttpRequest) -> Any:  # as the base class: whatever the JSON is
        return parse_json(request.body)


api = NinjaAPI(
    title="OpenCode Web",
    version=settings.VERSION,
    description="Speaks the HTTP API of OpenCode, for teams. Authenticate with an API token.",
    openapi_url=None,
    docs_url=None,
    auth=TokenOrCookie(),
    parser=JsonParser(),
)
for module in (
    catalog,
    config,
    projects,
    transfer,
    session_routes,
    history,
    inbox,
    permissions,
    questions,
    events,
):
    api.add_router("", module.router)


@api.exception_handler(AppError)
def _on_app_error(request: HttpRequest, error: AppError) -> HttpResponse:
    response = JsonResponse(error.to_json(), status=error.status)
    if error.status == 401:
        response["WWW-Authenticate"] = 'Basic realm="OpenCode Web"'
    return response


@api.exception_handler(ValidationError)
def _on_invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    first = error.errors[0]
    source, *place = first["loc"]
    # The first part of a body's place is the name of our parameter.
    where = ".".join(str(part) for part in (place[1:] if source == "body" else place))
    message = f"{where}: {first['msg']}" if where else str(first["msg"])
    return _on_app_error(request, Invalid(message, kind=_KINDS.get(source, "Payload")))


@api.exception_handler(HttpError)
def _on_http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    # ninja wraps whatever a parser raises in a sentence of its own.
    cause = error.__cause__
    return _on_app_error(
        request, cause if isinstance(cause, Invalid) else Invalid(error.message, kind="Payload")
    )


@api.exception_handler(Http404)
def _on_not_found(request: HttpRequest, error: Http404) -> HttpResponse:
    return _on_app_error(request, NotFound("Route", request.path))


@api.exception_handler(RequestDataTooBig)
def _on_too_large(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
    return _on_app_error(request, TooLarge("The request is too large."))


@api.exception_handler(Exception)
def _on_fault(request: HttpRequest, error: Exception) -> HttpResponse:
    ref = new_id("err")
    logger.error("api.failed ref=%s %s %s", ref, request.method, request.path, exc_info=error)
    message = "Unexpected server error. The server's log has more under this reference."
    data = {"name": "UnknownError", "data": {"message": message, "ref": ref}}
    return JsonResponse(data, status=500)


@cache
def _document() -> dict[str, Any]:  # OpenAPI, as JSON
    return describe(api)


def _openapi(request: HttpRequest) -> HttpResponse:
    return JsonResponse(_document())


@csrf_exempt
def _unknown(request: HttpRequest) -> HttpResponse:
    return _on_not_found(request, Http404())


def _shaped(view: Callable[..., Any]) -> Callable[..., Any]:  # sync or async, as ninja made it
    """Give ninja's plain 405 the one error shape."""

    def shape(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.status_code != 405:
            return response
        error = NotFound("Route", f"{request.method} {request.path}")
        shaped = JsonResponse(error.to_json(), status=405)
        shaped["Allow"] = response["Allow"]
        return shaped

    @wraps(view)
    async def asynchronous(request: HttpRequest, **kwargs: str) -> HttpResponseBase:
        return shape(request, await view(request, **kwargs))

    @wraps(view)
    def synchronous(request: HttpRequest, **kwargs: str) -> HttpResponseBase:
        return shape(request, view(request, **kwargs))

    return asynchronous if iscoroutinefunction(view) else synchronous


def _patterns() -> list[URLPattern]:
    patterns: list[URLPattern] = []
    for pattern in api.urls[0]:
        # ninja's own answer at the root, where the browser's first page is.
        if isinstance(pattern, URLPattern) and pattern.name != "api-root":
            pattern.callback = _shaped(pattern.callback)
            patterns.append(pattern)
    return patterns


urlpatterns = [
    path("doc", _openapi, name="openapi"),
    *_patterns(),
    re_path(_PREFIXES, _unknown, name="unknown_route"),
]
