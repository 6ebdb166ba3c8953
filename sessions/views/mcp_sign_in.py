"""Signing in to MCP servers of a project, and coming back from there."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from opencode_web.lib.errors import AppError, Invalid, NotFound
from opencode_web.lib.outside import waits_outside
from sessions.access import access_project
from sessions.actions.mcp_oauth import begin_sign_in, complete_sign_in
from sessions.actions.mcp_sign_ins import sign_out, take_attempt
from sessions.config.effective import project_config
from sessions.present.frame.rail import load_rail
from sessions.present.projects import project_url
from sessions.views.requests import project_of, rail_filter
from teams.auth import authenticate_user
from teams.http import TeamRequest, UserRequest, client_ip, done, go, team_view, user_view
from teams.models import Role

_MAX_CHARS = 10_000


@waits_outside
@require_POST
@never_cache
@team_view(need=Role.ADMIN)
def begin(request: TeamRequest, project: str, name: str) -> HttpResponse:
    """Name where the browser is about to go. A form may not lead to another site by itself."""
    access = project_of(request, project, need=Role.ADMIN)
    list_url = project_url(access.project, "project_mcp")
    try:
        begun = begin_sign_in(access, name)
    except Invalid as exc:
        messages.error(request, exc.message)
        return go(request, to=list_url)
    context: dict[str, object] = {
        "rail": load_rail(request.access, rail_filter(request)),
        "project": access.project,
        "crumbs": [
            {"label": access.project.name, "url": project_url(access.project)},
            {"label": _("MCP servers"), "url": list_url},
        ],
        "name": name,
        "url": begun.authorization_url,
        "host": urlsplit(begun.authorization_url).netloc,
        "list_url": list_url,
    }
    return render(request, "sessions/mcp_sign_in.html", context)


@waits_outside
@require_GET
@never_cache
@user_view
def callback(request: UserRequest) -> HttpResponse:
    """Where an authorisation server sends the browser back to."""
    given = {key: request.GET.get(key, "")[:_MAX_CHARS] for key in ("state", "code", "iss")}
    person = authenticate_user(request.user)
    try:
        attempt = take_attempt(person.user, state=given["state"])
        access = access_project(person, attempt.project_id, need=Role.ADMIN)
    except AppError as exc:
        messages.error(request, exc.message)
        return redirect("home")
    to = project_url(access.project, "project_mcp")
    try:
        complete_sign_in(
            access,
            attempt,
            code=given["code"],
            issuer=given["iss"] or None,
            ip=client_ip(request),
        )
    except (Invalid, NotFound) as exc:
        messages.error(request, exc.message)
        return redirect(to)
    return done(request, _("Signed in to %(name)s.") % {"name": attempt.name}, to=to)


@require_POST
@team_view(need=Role.ADMIN)
def end(request: TeamRequest, project: str, name: str) -> HttpResponse:
    access = project_of(request, project, need=Role.ADMIN)
    server = project_config(access.project).mcp.get(name)
    if server is None:
        raise NotFound("MCP server", name[:100])
    sign_out(access, name=name, url=server.url, ip=client_ip(request))
    said = _("Signed out of %(name)s.") % {"name": name}
    return done(request, said, to=project_url(access.project, "project_mcp"))
