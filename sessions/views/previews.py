"""Previews of apps in the person's terminals: which there are, and the way into each."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.outside import asking, waits_outside
from sessions.access import SessionAccess, TerminalAccess, access_preview, access_terminal
from sessions.actions.previews import issue_ticket, open_preview
from sessions.models import Terminal
from sessions.present.pages.previews import entrance_url, load_apps, load_previews, to_shown
from sessions.present.place import Place
from sessions.previews.origin import host_of_previews
from sessions.views.requests import app_origin, session_of
from teams.auth import Principal, authenticate_user
from teams.browser import BrowserSession
from teams.http import TeamRequest, team_view
from teams.models import Role


@require_GET
@team_view()
@never_cache
@waits_outside
def previews(request: TeamRequest, session: str) -> HttpResponse:
    """The list of apps by itself: what the page asks for while it shows."""
    access = session_of(request, session)
    if not request.htmx:
        return _to_panel(access)
    with asking(request.user.pk):
        shown = replace(load_previews(access, app_origin(request)), apps=load_apps(access))
    return render(request, "sessions/_preview_list.html", {"previews": shown})


@require_POST
@team_view()
def preview(request: TeamRequest, session: str) -> HttpResponse:
    """Open one."""
    access = session_of(request, session, need=Role.MEMBER)
    terminal = access_terminal(
        _principal(request), request.POST.get("terminal", ""), need=Role.MEMBER, own=True
    )
    _require_same_place(access, terminal)
    origin, port = app_origin(request), request.POST.get("port", "")
    if not port.isdecimal() or len(port) > 5 or not 0 < int(port) < 65_536:
        raise Invalid("port must be a number from 1 to 65535.", field="port")
    if not host_of_previews(origin):
        raise Invalid("PREVIEW_HOST is not set.")
    made = open_preview(terminal, int(port), app_origin=origin)
    if not request.htmx:
        return _to_panel(access)
    return render(request, "sessions/_preview_app.html", {"app": to_shown(access, made)})


@require_GET
@team_view()
@never_cache
def preview_page(request: TeamRequest, session: str, label: str) -> HttpResponse:
    """Go to the host of a preview, at the path that the query names."""
    access = session_of(request, session, need=Role.MEMBER)
    made, terminal = access_preview(_principal(request), label)
    _require_same_place(access, terminal)
    path = "/" + request.GET.get("to", "").lstrip("/")
    return redirect(entrance_url(made, issue_ticket(made), path))


def _principal(request: TeamRequest) -> Principal:
    return authenticate_user(request.user, browser=BrowserSession.of(request.session))


def _require_same_place(access: SessionAccess, terminal: TerminalAccess) -> None:
    row: Terminal = terminal.terminal
    if (row.project_id, row.folder) != (access.session.project_id, access.session.folder):
        raise NotFound("Terminal", row.pk)


def _to_panel(access: SessionAccess) -> HttpResponse:
    return redirect(f"{Place.of(access.session).url('session')}?panel=preview")
