"""The MCP servers of a team: everybody reads them, admins set them up."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from opencode_web.lib.json import JsonValue
from sessions.actions.team_items import put_team_item
from sessions.actions.team_secrets import set_team_secret
from sessions.mcp.servers import KEY, servers_in
from sessions.present.pages.mcp.servers import below_team, projects_with_servers, team_lines
from sessions.views.mcp_pages import Shelf, confirm_removal, show_catalog, show_form, switch
from sessions.visibility import projects_in
from teams.http import TeamRequest, client_ip, team_view
from teams.models import Role


@require_GET
@team_view()
def servers(request: TeamRequest) -> HttpResponse:
    context: dict[str, object] = {
        "lines": team_lines(request.access, _shelf(request).address),
        "projects": projects_with_servers(request.access),
        "may_change": request.access.can(Role.ADMIN),
    }
    return render(request, "sessions/team_mcp.html", context)


@require_GET
@team_view(need=Role.ADMIN)
def catalog(request: TeamRequest) -> HttpResponse:
    return show_catalog(request, _shelf(request), "sessions/team_mcp_catalog.html")


@require_http_methods(["GET", "POST"])
@sensitive_post_parameters()
@team_view(need=Role.ADMIN)
def server_new(request: TeamRequest) -> HttpResponse:
    return show_form(request, _shelf(request), "")


@require_http_methods(["GET", "POST"])
@sensitive_post_parameters("environment")
@team_view(need=Role.ADMIN)
def server(request: TeamRequest, name: str) -> HttpResponse:
    return show_form(request, _shelf(request), name)


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def server_delete(request: TeamRequest, name: str) -> HttpResponse:
    return confirm_removal(request, _shelf(request), name)


@require_POST
@team_view(need=Role.ADMIN)
def server_enabled(request: TeamRequest, name: str) -> HttpResponse:
    return switch(request, _shelf(request), name)


def _shelf(request: TeamRequest) -> Shelf:
    access = request.access
    team, ip = {"team": request.team.slug}, client_ip(request)

    def put(name: str, value: JsonValue, seen: str) -> None:
        put_team_item(request.access, (KEY, name), value, seen=seen, ip=ip)

    return Shelf(
        own=servers_in(request.team.config),
        below=below_team(),
        put=put,
        put_secret=lambda name, value: set_team_secret(access, name=name, value=value, ip=ip),
        address=lambda act, name: reverse(
            f"sessions:team_mcp_server{act}", kwargs={**team, "name": name}
        ),
        list_url=reverse("sessions:team_mcp", kwargs=team),
        catalog_url=reverse("sessions:team_mcp_catalog", kwargs=team),
        new_url=reverse("sessions:team_mcp_new", kwargs=team),
        projects=projects_in(request.access),
        frame={},
        page="sessions/team_mcp_server.html",
    )
