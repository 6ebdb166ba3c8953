"""Who may call, and every answer in SCIM's shape, errors too."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.core.exceptions import RequestDataTooBig
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from pydantic import ValidationError
from scim2_models import Context, Error, Resource, ResponseParameters, SCIMException

from opencode_web.lib.errors import AppError, Unauthorized
from opencode_web.lib.json import JsonObject
from opencode_web.scim.shapes import SERVICE
from teams.actions.attempts import Kind, count_attempt
from teams.actions.directory import Taken, find_directory_token
from teams.audit import AuditAction, record
from teams.http import client_ip

logger = logging.getLogger(__name__)

P = ParamSpec("P")
_MEDIA_TYPE = "application/scim+json"
# A parser works on what is nested in it.
MAX_FILTER_CHARS = 1_000


def scim_view(
    **methods: Callable[Concatenate[HttpRequest, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """A view of the functions that answer each method, for the directory alone."""

    @never_cache
    @wraps(next(iter(methods.values())))
    def view(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            answer = methods.get(str(request.method).lower())
            if answer is None:
                allowed = ", ".join(name.upper() for name in methods)
                refused = _error(405, f"Use {allowed}.")
                refused["Allow"] = allowed
                return refused
            _require_directory(request)
            with SERVICE:
                return answer(request, *args, **kwargs)
        except ValidationError as exc:
            first = Error.from_validation_errors(exc)[0]
            return _error(first.status or 400, first.detail or "", first.scim_type)
        except (SCIMException, AppError, IntegrityError, RequestDataTooBig) as exc:
            return _refusal(exc)

    return view


def to_response(
    request: HttpRequest, resource: Resource[Any], context: Context, *, status: int = 200
) -> HttpResponse:
    """Returns: the resource with the attributes that the caller asks for."""
    wanted = {
        name: request.GET[name]
        for name in ("attributes", "excludedAttributes")
        if request.GET.get(name)
    }
    parameters = ResponseParameters[type(resource)].model_validate(wanted)  # type: ignore[misc]
    data = resource.model_dump(scim_ctx=context, response_parameters=parameters)
    response = json_answer(data, status=status)
    if resource.meta is not None and resource.meta.version:
        response["ETag"] = resource.meta.version
        response["Location"] = str(resource.meta.location)
    return response


def json_answer(data: JsonObject, *, status: int = 200) -> HttpResponse:
    """Returns: the data with the media type of SCIM."""
    return JsonResponse(data, status=status, content_type=_MEDIA_TYPE)


def _require_directory(request: HttpRequest) -> None:
    """Raises: Unauthorized without a live token; TooManyRequests for too many wrong ones."""
    scheme, _, secret = request.headers.get("Authorization", "").strip().partition(" ")
    if scheme.lower() == "bearer" and find_directory_token(secret.strip()) is not None:
        return
    if secret:
        count_attempt(Kind.TOKEN, address=client_ip(request), account="scim")
        record(AuditAction.TOKEN_REFUSED, actor=None, team=None, data={"account": "SCIM"})
    raise Unauthorized("Send the SCIM token of this server as a Bearer token.")


def _refusal(exc: SCIMException | AppError | IntegrityError | RequestDataTooBig) -> HttpResponse:
    match exc:
        case SCIMException():
            told = exc.to_error()
            return _error(told.status or 400, told.detail or "", told.scim_type)
        case Taken():
            return _error(409, exc.message, "uniqueness")
        case AppError():
            response = _error(exc.status, exc.message, "invalidValue" if exc.status == 400 else "")
            if exc.status == 401:
                response["WWW-Authenticate"] = 'Bearer realm="SCIM"'
            if "retryAfter" in exc.data:
                response["Retry-After"] = str(exc.data["retryAfter"])
            return response
        case IntegrityError():
            # Two requests about the same person or group at once.
            logger.info("scim.conflict", exc_info=exc)
            return _error(409, "Another request has just made this. Read it again.", "uniqueness")
    return _error(413, "The request is too large.")


def _error(status: int, detail: str, scim_type: str | None = "") -> HttpResponse:
    error = Error(status=status, detail=detail, scim_type=scim_type or None)
    return json_answer(error.model_dump(), status=status)
