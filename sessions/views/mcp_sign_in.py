"""Signing in to MCP servers of a project, for the team or on one's own, and coming back."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from opencode_web.lib.errors import AppError, Invalid, NotFound
from opencode_web.lib.outside import waits_outside
from sessions.access import access_project
from sessions.actions.mcp_oauth import begin_sign_in, complete_sign_in
from sessions.actions.mcp_sign_ins import role_for, sign_out, sign_out_here, take_attempt
from sessions.config.effective import project_config
from sessions.present.frame.rail import load_rail
from sessions.present.pages.mcp.sign_ins import own_sign_ins
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
    return _begin(request, project, name, own=False)


@waits_outside
@require_POST
@never_cache
@team_view()
def begin_own(request: TeamRequest, project: str, name: str) -> HttpResponse:
    return _begin(request, project, name, own=True)


def _begin(request: TeamRequest, project: str, name: str, *, own: bool) -> HttpResponse:
    """Name where the browser is about to go. A form may not lead to another site by itself."""
    access = project_of(request, project, need=role_for(own=own))
    list_url = project_url(access.project, "project_mcp")
    try:
        begun = begin_sign_in(access, name, own=own)
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
        "own": own,
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
        need = role_for(own=attempt.is_own)
        access = access_project(person, attempt.project_id, need=need)
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
    return _end(request, project, name, own=False)


@require_POST
@team_view()
def end_own(request: TeamRequest, project: str, name: str) -> HttpResponse:
    return _end(request, project, name, own=True)


def _end(request: TeamRequest, project: str, name: str, *, own: bool) -> HttpResponse:
    access = project_of(request, project, need=role_for(own=own))
    if name not in project_config(access.project).mcp:
        raise NotFound("MCP server", name[:100])
    sign_out(access, name=name, own=own, ip=client_ip(request))
    return done(request, _signed_out(name), to=project_url(access.project, "project_mcp"))


@require_GET
@never_cache
@user_view
def own(request: UserRequest) -> HttpResponse:
    """What a person has signed in to on their own, in all of their teams."""
    return render(request, "sessions/own_mcp.html", {"sign_ins": own_sign_ins(request.user)})


@require_POST
@user_view
def end_here(request: UserRequest, sign_in: int) -> HttpResponse:
    row = sign_out_here(request.user, sign_in, ip=client_ip(request))
    return done(request, _signed_out(row.name), to=reverse("own_mcp"))


def _signed_out(name: str) -> str:
    return _("Signed out of %(name)s.") % {"name": name}
