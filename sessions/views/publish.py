"""Commit, branch, push and pull request of a session."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from opencode_web.lib.errors import Conflict, Invalid
from opencode_web.lib.public_url import absolute_url
from sessions.access import SessionAccess
from sessions.actions.publish import (
    request_branch_of,
    request_commit_of,
    request_pull,
    request_push_of,
    request_survey,
    workplace_of,
)
from sessions.models import Checkout, Session
from sessions.present.frame.rail import load_rail
from sessions.present.pages.publish import Typed, build_publish
from sessions.present.place import Place
from sessions.views.requests import rail_filter, session_of
from teams.http import TeamRequest, team_view
from teams.models import Role

# What was seen within this time is not looked at again, unless the session has gone on since.
_FRESH = timedelta(seconds=3)
_KEY = re.compile(r"[A-Za-z0-9_-]{1,40}")
_KEPT = ("url", "message", "name", "title", "body", "base", "draft")


@require_GET
@team_view()
def publish(request: TeamRequest, session: str) -> HttpResponse:
    """What there is to publish. While a worker looks at it, the fragment asks again."""
    access = session_of(request, session)
    row = workplace_of(access.session)
    if "poll" not in request.GET and not _is_fresh(row, access.session):
        row = request_survey(access)
    return _show(request, access, row)


@require_POST
@sensitive_post_parameters("url")
@team_view()
def act(request: TeamRequest, session: str, act: str) -> HttpResponse:
    """Ask for something to be done. A worker does it, and the page tells."""
    access = session_of(request, session, need=Role.MEMBER)
    if act not in _ACTS:
        raise Http404
    try:
        row = _ACTS[act](access, request.POST, key_of(request.POST))
    except (Conflict, Invalid) as exc:
        typed = _typed(request.POST, act, exc.message)
        return _show(request, access, workplace_of(access.session), typed=typed, status=422)
    if request.htmx:
        return _show(request, access, row)
    return redirect(Place.of(access.session).url("publish"))


def _show(
    request: TeamRequest,
    access: SessionAccess,
    row: Checkout | None,
    *,
    typed: Typed | None = None,
    status: int = 200,
) -> HttpResponse:
    base_url = absolute_url(request, "/").rstrip("/")
    view = build_publish(access.session, row, base_url=base_url, typed=typed)
    context: dict[str, object] = {"publish": view}
    if request.htmx:
        return render(request, "sessions/_publish.html", context, status=status)
    session = access.session
    context |= {
        "rail": load_rail(request.access, rail_filter(request), current=session.pk),
        "title": session.title,
        "session": session.pk,
        "session_url": Place.of(session).url("session"),
        "crumbs": [
            {"label": session.title, "url": Place.of(session).url("session")},
            {"label": _("Publish"), "url": ""},
        ],
    }
    return render(request, "sessions/publish.html", context, status=status)


def _is_fresh(row: Checkout | None, session: Session) -> bool:
    if row is None or row.looked_at is None or row.looked_at <= session.updated_at:
        return bool(row and row.job)
    return bool(row.job) or timezone.now() - row.looked_at < _FRESH


def key_of(fields: QueryDict) -> str:
    key = fields.get("key", "")
    return key if _KEY.fullmatch(key) else ""


def _typed(fields: QueryDict, act: str, problem: str) -> Typed:
    kept = {name: fields.get(name, "") for name in _KEPT if name in fields}
    if "@" in kept.get("url", ""):  # it can hold a token, which no page shows again
        del kept["url"]
    paths = frozenset(fields.getlist("path")) if fields.get("which") == "some" else None
    return Typed(problem, act, kept, paths)


def _commit(access: SessionAccess, fields: QueryDict, key: str) -> Checkout:
    paths = fields.getlist("path") if fields.get("which") == "some" else None
    return request_commit_of(access, message=fields.get("message", ""), paths=paths, key=key)


def _request(access: SessionAccess, fields: QueryDict, key: str) -> Checkout:
    return request_pull(
        access,
        title=fields.get("title", ""),
        body=fields.get("body", ""),
        base=fields.get("base", ""),
        draft=fields.get("draft") == "on",
        key=key,
    )


_ACTS: dict[str, Callable[[SessionAccess, QueryDict, str], Checkout]] = {
    "commit": _commit,
    "request": _request,
    "switch": lambda access, fields, key: request_branch_of(
        access, name=fields.get("name", ""), key=key
    ),
    "rename": lambda access, fields, key: request_branch_of(
        access, name=fields.get("name", ""), rename=True, key=key
    ),
    "push": lambda access, fields, key: request_push_of(access, url=fields.get("url", ""), key=key),
}
