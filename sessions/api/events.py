from __future__ import annotations

from contextlib import suppress

from django.http import StreamingHttpResponse
from ninja import Router

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import NotFound
from opencode_web.lib.sse import response
from sessions.api.auth import ApiRequest, AsyncTokenOrCookie
from sessions.api.location import find_location, names_place
from sessions.stream.sse import Home, Scope, open_stream

router = Router(tags=["event"])


@router.get(
    "/event",
    auth=AsyncTokenOrCookie(),
    summary="Server-sent events of the named project, else of your teams",
)
async def project_events(request: ApiRequest) -> StreamingHttpResponse:
    home = await in_db(_home, request)
    project_id = home.project_id if home is not None and names_place(request) else None
    return await _answer(request, Scope(request.auth, project_id=project_id, home=home))


@router.get(
    "/global/event",
    auth=AsyncTokenOrCookie(),
    summary="Server-sent events of your teams, each in an envelope with its directory",
)
async def all_events(request: ApiRequest) -> StreamingHttpResponse:
    home = await in_db(_home_if_known, request)
    return await _answer(request, Scope(request.auth, is_global=True, home=home))


@router.get(
    "/api/event",
    auth=AsyncTokenOrCookie(),
    summary="Server-sent events of your teams, each with its location",
)
async def native_events(request: ApiRequest) -> StreamingHttpResponse:
    home = await in_db(_home_if_known, request)
    return await _answer(request, Scope(request.auth, is_native=True, home=home))


def _home(request: ApiRequest) -> Home | None:
    location = find_location(request)
    if location is None:
        return None
    return Home(location.project.team_id, location.project.pk, location.directory)


def _home_if_known(request: ApiRequest) -> Home | None:
    """What is named does not narrow these streams, so it may be unknown here."""
    with suppress(NotFound):
        return _home(request)
    return None


async def _answer(request: ApiRequest, scope: Scope) -> StreamingHttpResponse:
    last = request.headers.get("Last-Event-ID", "")
    return response(await open_stream(scope, last_event_id=last))
