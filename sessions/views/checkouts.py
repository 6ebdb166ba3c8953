from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from opencode_web.lib.errors import Conflict, Invalid, NotFound
from sessions.access import SessionAccess
from sessions.actions.checkouts import (
    checkout_of,
    request_commit,
    request_drop,
    request_look,
    request_merge,
    request_push,
    request_restore,
    work_in_project,
)
from sessions.models import Checkout, Session
from sessions.present.frame.rail import load_rail
from sessions.present.pages.checkouts import build_checkout
from sessions.present.place import Place
from sessions.views.requests import rail_filter, session_of
from teams.http import TeamRequest, go, team_view
from teams.models import Role

# What was seen within this time is not looked at again, unless the session has gone on since.
_FRESH = timedelta(seconds=3)


@require_GET
@team_view()
def checkout(request: TeamRequest, session: str) -> HttpResponse:
    """The worktree of a session. While a worker looks at it, the fragment asks again."""
    access = session_of(request, session)
    row = checkout_of(access.session)
    if row is None:
        raise NotFound("Worktree of the session", session)
    if not request.htmx and not _is_fresh(row, access.session):
        row = request_look(access)
    view = build_checkout(access.session, row)
    if request.htmx:
        return render(request, "sessions/_checkout.html", {"checkout": view})
    place = Place.of(access.session)
    rail = load_rail(request.access, rail_filter(request), current=access.session.pk)
    context = {
        "rail": rail,
        "checkout": view,
        "publish_url": place.url("publish"),
        "title": access.session.title,
        "session": access.session.pk,
        "crumbs": [{"label": access.session.title, "url": place.url("session")}],
    }
    return render(request, "sessions/checkout.html", context)


def _is_fresh(row: Checkout, session: Session) -> bool:
    if row.looked_at is None or row.looked_at <= session.updated_at:
        return False
    return timezone.now() - row.looked_at < _FRESH


@require_POST
@team_view()
def act(request: TeamRequest, session: str, act: str) -> HttpResponse:
    """Ask for something to be done with the worktree. It is done by a worker; the page tells."""
    access = session_of(request, session, need=Role.MEMBER)
    if act not in _ACTS:
        raise Http404
    try:
        _ACTS[act](access, request)
    except (Conflict, Invalid) as exc:
        messages.error(request, exc.message)
    place = Place.of(access.session)
    if act == "leave":
        return go(request, to=place.url("session"))
    return redirect(place.url("checkout"))


_ACTS: dict[str, Callable[[SessionAccess, TeamRequest], object]] = {
    "commit": lambda access, request: request_commit(
        access, message=request.POST.get("message", "")
    ),
    "merge": lambda access, request: request_merge(access),
    "push": lambda access, request: request_push(access, url=request.POST.get("url", "")),
    "drop": lambda access, request: request_drop(access),
    "restore": lambda access, request: request_restore(access),
    "leave": lambda access, request: work_in_project(access),
}
