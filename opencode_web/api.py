"""OpenCode's HTTP API at the root paths: the routers, one error shape, and `/doc`."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Awaitable, Callable
from functools import cache, wraps
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path, re_path
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError
from ninja.operation import Operation
from ninja.parser import Parser

from opencode_web.aliases import alias_patterns
from opencode_web.api_paths import API_PATHS
from opencode_web.catalogs import lean
from opencode_web.denials import note_denial
from opencode_web.idempotency import has_key, respond_once, respond_once_async
from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError, Invalid, NotFound, TooLarge
from opencode_web.lib.ids import new_id
from opencode_web.lib.json_body import parse_json
from opencode_web.outage import RETRY_AFTER_S, find_outage
from sessions.api import (
    approvals,
    audit,
    budget_limits,
    budgets,
    catalog,
    checkouts,
    code,
    config,
    copies,
    erasures,
    events,
    experimental,
    files,
    groups,
    history,
    inbox,
    instance,
    integrations,
    keys,
    mcp,
    mcp_auth,
    members,
    permissions,
    project_members,
    projects,
    questions,
    schedules,
    server,
    services,
    shares,
    shell,
    sign_ins,
    sync,
    terminals,
    tokens,
    trackers,
    transfer,
    tui,
    usage,
    v2,
    webhooks,
)
from sessions.api import sessions as session_routes
from sessions.api.auth import TokenOrCookie
from sessions.api.faults import error_body
from sessions.api.rates import with_rate

logger = logging.getLogger(__name__)

# What an `Idempotency-Key` can fail with, outside ninja's own handling.
_FAULTS = (AppError, OperationalError, InterfaceError)
_KINDS = {"body": "Payload", "query": "Query", "path": "Params", "header": "Headers"}


class JsonParser(Parser):
    """JSON bodies as they can be stored and sent on."""

    def parse_body(self, request: HttpRequest) -> Any:  # as the base class: whatever the JSON is
        return parse_json(request.body)


class _Api(NinjaAPI):
    def get_openapi_operation_id(self, operation: Operation) -> str:
        """Short, for generated clients name their functions so: `permissions_reply`."""
        module = operation.view_func.__module__.removeprefix("sessions.api.")
        return "_".join([*module.split("."), operation.view_func.__name__])


api = _Api(
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
    checkouts,
    code,
    config,
    projects,
    transfer,
    session_routes,
    history,
    inbox,
    permissions,
    questions,
    events,
    files,
    terminals,
    v2.terminals,
    tokens,
    webhooks,
    integrations,
    trackers,
    schedules,
    services,
    members,
    groups,
    project_members,
    usage,
    approvals,
    budget_limits,
    budgets,
    audit,
    erasures,
    v2.sessions,
    v2.messages,
    v2.requests,
    v2.catalog,
    v2.integrations,
    v2.files,
    experimental,
    instance,
    server,
    keys,
    mcp,
    mcp_auth,
    copies,
    shares,
    sign_ins,
    shell,
    sync,
    tui,
):
    api.add_router("", module.router)


@api.exception_handler(AppError)
def _on_app_error(request: HttpRequest, error: AppError) -> HttpResponse:
    if error.status == 403:
        # Written down once the transaction is over, see `_shaped`.
        request.denied = error  # type: ignore[attr-defined]
    response = JsonResponse(error_body(request, error), status=error.status)
    if error.status == 401:
        response["WWW-Authenticate"] = 'Basic realm="OpenCode Web"'
    if "retryAfter" in error.data:
        response["Retry-After"] = str(error.data["retryAfter"])
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
    if (outage := find_outage(error)) is not None:
        response = _on_app_error(request, outage)
        response["Retry-After"] = str(RETRY_AFTER_S)
        return response
    ref = new_id("err")
    logger.error("api.failed ref=%s %s %s", ref, request.method, request.path, exc_info=error)
    message = "Unexpected server error. The server's log has more under this reference."
    fault = {"message": message, "ref": ref}
    data = {"name": "UnknownError", "data": fault, "_tag": "UnknownError", **fault}
    return JsonResponse(data, status=500)


@cache
def openapi_document() -> dict[str, Any]:  # as JSON
    """What the API is, by its own word."""
    # The shapes of answers are there for this document alone, and a twentieth of a start.
    document: dict[str, Any] = importlib.import_module("sessions.api.openapi").describe(api)
    return document


def _openapi(request: HttpRequest) -> HttpResponseBase:
    return lean(request, JsonResponse(openapi_document()))


@csrf_exempt
def _unknown(request: HttpRequest) -> HttpResponse:
    return _on_not_found(request, Http404())


def _shaped(view: Callable[..., Any]) -> Callable[..., Any]:  # sync or async, as ninja made it
    """Give ninja's plain 405 the one error shape, writes their key, and catalogs an ETag."""

    def shape(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.status_code != 405:
            return lean(request, response)
        error = NotFound("Route", f"{request.method} {request.path}")
        shaped = JsonResponse(error_body(request, error), status=405)
        shaped["Allow"] = response["Allow"]
        return shaped

    async def respond_async(request: HttpRequest, **kwargs: str) -> HttpResponseBase:
        return shape(request, await view(request, **kwargs))

    def respond(request: HttpRequest, **kwargs: str) -> HttpResponseBase:
        return shape(request, view(request, **kwargs))

    @wraps(view)
    async def asynchronous(request: HttpRequest, **kwargs: str) -> HttpResponseBase:
        response = await _once_async(request, lambda again: respond_async(again, **kwargs))
        if hasattr(request, "denied"):
            await in_db(note_denial, request, request.denied)
        return with_rate(request, response)

    @wraps(view)
    def synchronous(request: HttpRequest, **kwargs: str) -> HttpResponseBase:
        response = _once(request, lambda again: respond(again, **kwargs))
        if hasattr(request, "denied"):
            note_denial(request, request.denied)
        return with_rate(request, response)

    return asynchronous if iscoroutinefunction(view) else synchronous


async def _once_async(
    request: HttpRequest, respond: Callable[[HttpRequest], Awaitable[HttpResponseBase]]
) -> HttpResponseBase:
    if not has_key(request):
        return await respond(request)
    try:
        return await respond_once_async(request, respond)
    except _FAULTS as error:
        return api.on_exception(request, error)


def _once(
    request: HttpRequest, respond: Callable[[HttpRequest], HttpResponseBase]
) -> HttpResponseBase:
    if not has_key(request):
        return respond(request)
    try:
        return respond_once(request, respond)
    except _FAULTS as error:
        return api.on_exception(request, error)


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
    *alias_patterns(_on_app_error),
    re_path(API_PATHS, _unknown, name="unknown_route"),
]
