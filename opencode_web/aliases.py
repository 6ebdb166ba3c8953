"""Older and longer names of routes: the request goes on to the route itself, as if it came there.

Below `/project/{id}` is what is about one project. Source: FEAT-0006.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import Resolver404, URLPattern, path, resolve
from django.views.decorators.csrf import csrf_exempt

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError, NotFound
from sessions.access import access_project, access_session
from sessions.api.auth import authenticate

# A path, and what its query has besides what was given.
Target = tuple[str, dict[str, str]]
Refuse = Callable[[HttpRequest, AppError], HttpResponseBase]
# What is about the files of a session, by the folder that it works in.
_FILES = frozenset({"find/file", "file", "file/status", "file/content"})
_PERMISSION = re.compile(r"permission/([^/]+)")


def alias_patterns(refuse: Refuse) -> list[URLPattern]:
    """The routes of the aliases. `refuse` makes an answer of an error."""

    async def go(
        request: HttpRequest, target: Callable[[], tuple[str, dict[str, str]]]
    ) -> HttpResponseBase:
        try:
            path_below, query = await in_db(target)
            where = settings.BASE_PATH + path_below
            match = resolve(where)
        except AppError as exc:
            return refuse(request, exc)
        except Resolver404:
            return refuse(request, NotFound("Route", request.path))
        given = request.GET.copy()
        given.update(query)
        request.GET = given  # type: ignore[assignment]  # as Django itself sets it
        request.META["QUERY_STRING"] = given.urlencode()
        request.path = request.path_info = where
        if iscoroutinefunction(match.func):
            answer: HttpResponseBase = await match.func(request, **match.kwargs)
            return answer
        done: HttpResponseBase = await sync_to_async(match.func)(request, **match.kwargs)
        return done

    @csrf_exempt
    async def of_project(request: HttpRequest, project_id: str, rest: str) -> HttpResponseBase:
        return await go(request, lambda: _of_project(request, project_id, rest))

    @csrf_exempt
    async def of_session(
        request: HttpRequest, project_id: str, session_id: str, rest: str = ""
    ) -> HttpResponseBase:
        return await go(request, lambda: _of_session(request, project_id, session_id, rest))

    @csrf_exempt
    async def renamed(request: HttpRequest, target: str) -> HttpResponseBase:
        return await go(request, lambda: (target, {}))

    below = "project/<str:project_id>"
    names = ("session", "agent", "find/file")
    return [
        *(path(f"{below}/{name}", of_project, {"rest": name}) for name in names),
        path(f"{below}/session/<str:session_id>", of_session),
        path(f"{below}/session/<str:session_id>/<path:rest>", of_session),
        path("global", renamed, {"target": "/experimental/session"}),
        path("global/sync-event", renamed, {"target": "/global/event"}),
    ]


def _of_project(request: HttpRequest, project_id: str, rest: str) -> Target:
    project = access_project(authenticate(request), project_id).project
    return f"/{rest}", {"project": project.pk}


def _of_session(request: HttpRequest, project_id: str, session_id: str, rest: str) -> Target:
    session = access_session(authenticate(request), session_id).session
    if session.project_id != project_id:
        raise NotFound("Session", session_id)
    if rest in _FILES:
        return f"/{rest}", {"directory": session.directory}
    rest = _PERMISSION.sub(r"permissions/\1", rest) if _PERMISSION.fullmatch(rest) else rest
    return f"/session/{quote(session_id)}/{rest}".rstrip("/"), {}
