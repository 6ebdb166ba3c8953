from __future__ import annotations

from django.http import StreamingHttpResponse
from ninja import Router

from opencode_web.lib.db import in_db
from opencode_web.lib.sse import response
from sessions.api.auth import ApiRequest, AsyncTokenOrCookie
from sessions.api.location import find_location, names_place
from sessions.stream.sse import Scope, open_stream

router = Router(tags=["event"])


@router.get(
    "/event",
    auth=AsyncTokenOrCookie(),
    summary="Server-sent events of the named project, else of your teams",
)
async def project_events(request: ApiRequest) -> StreamingHttpResponse:
    project_id = await in_db(_named_project, request)
    return await _answer(request, Scope(request.auth, project_id=project_id))


@router.get(
    "/global/event",
    auth=AsyncTokenOrCookie(),
    summary="Server-sent events of your teams, each in an envelope with its directory",
)
async def all_events(request: ApiRequest) -> StreamingHttpResponse:
    return await _answer(request, Scope(request.auth, is_global=True))


@router.get(
    "/api/event",
    auth=AsyncTokenOrCookie(),
    summary="Server-sent events of your teams, each with its location",
)
async def native_events(request: ApiRequest) -> StreamingHttpResponse:
    return await _answer(request, Scope(request.auth, is_native=True))


def _named_project(request: ApiRequest) -> str | None:
    location = find_location(request) if names_place(request) else None
    return location.project.pk if location else None


async def _answer(request: ApiRequest, scope: Scope) -> StreamingHttpResponse:
    last = request.headers.get("Last-Event-ID", "")
    return response(await open_stream(scope, last_event_id=last))
