"""The MCP servers of a project and how they are: members have them asked, admins set them up."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.json import JsonValue
from sessions.access import ProjectAccess
from sessions.actions.mcp_programs import accept_mcp_program
from sessions.actions.mcp_servers import forget_mcp_server
from sessions.actions.secrets import set_secret
from sessions.actions.team_items import item_of, mark_of, put_project_item
from sessions.config.effective import project_config
from sessions.forms.team_settings import ACTIONS
from sessions.mcp.servers import KEY, servers_in
from sessions.models import Project
from sessions.present.frame.rail import load_rail
from sessions.present.pages.mcp.servers import below_project, project_lines
from sessions.present.pages.mcp.tools import RULES, tool_rules, with_rules
from sessions.present.projects import project_url
from sessions.views.mcp_pages import Shelf, confirm_removal, show_catalog, show_form, switch
from sessions.views.requests import project_of, rail_filter
from teams.http import TeamRequest, client_ip, done, team_view
from teams.models import Role


@require_GET
@team_view()
def servers(request: TeamRequest, project: str) -> HttpResponse:
    access = project_of(request, project)
    shelf = _shelf(request, access)
    context: dict[str, object] = {
        **shelf.frame,
        "lines": project_lines(access, shelf.address),
        "new_url": shelf.new_url,
        "catalog_url": shelf.catalog_url,
        "may_change": access.team.can(Role.ADMIN),
        "may_ask": access.team.can(Role.MEMBER),
    }
    return render(request, "sessions/project_mcp.html", context)


@require_GET
@team_view(need=Role.ADMIN)
def catalog(request: TeamRequest, project: str) -> HttpResponse:
    return show_catalog(request, _govern(request, project), "sessions/project_mcp_catalog.html")


@require_http_methods(["GET", "POST"])
@sensitive_post_parameters()
@team_view(need=Role.ADMIN)
def server_new(request: TeamRequest, project: str) -> HttpResponse:
    return show_form(request, _govern(request, project), "")


@require_http_methods(["GET", "POST"])
@sensitive_post_parameters("environment")
@team_view(need=Role.ADMIN)
def server(request: TeamRequest, project: str, name: str) -> HttpResponse:
    return show_form(request, _govern(request, project), name)


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def server_delete(request: TeamRequest, project: str, name: str) -> HttpResponse:
    return confirm_removal(request, _govern(request, project), name)


@require_POST
@team_view(need=Role.ADMIN)
def server_enabled(request: TeamRequest, project: str, name: str) -> HttpResponse:
    return switch(request, _govern(request, project), name)


@require_POST
@team_view()
def server_again(request: TeamRequest, project: str, name: str) -> HttpResponse:
    """Forget what a server said."""
    row = project_of(request, project, need=Role.MEMBER).project
    if name not in project_config(row).mcp:
        raise NotFound("MCP server", name)
    forget_mcp_server(row, name, request.user.pk)
    said = _("%(name)s is checked again with the next turn.") % {"name": name}
    return done(request, said, to=project_url(row, "project_mcp"))


@require_http_methods(["GET", "POST"])
@team_view()
def server_tools(request: TeamRequest, project: str, name: str) -> HttpResponse:
    """The tools of a server, and for each whether agents may use it; admins change that."""
    posted = request.method == "POST"
    access = project_of(request, project, need=Role.ADMIN if posted else Role.VIEWER)
    if name not in project_config(access.project).mcp:
        raise NotFound("MCP server", name[:100])
    shelf, tools = _shelf(request, access), tool_rules(access, name)
    here = project_url(access.project, "project_mcp_server_tools", name=name)
    if posted:
        allowed = {"", *(value for value, _label in ACTIONS)}
        wanted = {one.name: request.POST.get(f"rule-{one.name}", one.rule) for one in tools}
        if not allowed.issuperset(wanted.values()):
            raise Invalid(_("Choose one of the actions."))
        rules, seen = with_rules(access, wanted), request.POST.get("seen", "")
        put_project_item(access, RULES, rules, seen=seen, ip=client_ip(request))
        return done(request, _("Saved. This applies from the next call on."), to=here)
    context: dict[str, object] = {
        **shelf.frame,
        "name": name,
        "tools": tools,
        "actions": ACTIONS,
        "seen": mark_of(item_of(access.project.config, RULES)),
        "list_url": shelf.list_url,
        "may_change": access.team.can(Role.ADMIN),
    }
    return render(request, "sessions/project_mcp_tools.html", context)


@require_POST
@team_view(need=Role.ADMIN)
def server_accept(request: TeamRequest, project: str, name: str) -> HttpResponse:
    """Accept the files of the project that a server runs, as they were shown."""
    access = project_of(request, project, need=Role.ADMIN)
    digest, ip = request.POST.get("digest", ""), client_ip(request)
    accept_mcp_program(access, name, digest=digest, ip=ip)
    said = _(
        "%(name)s can run these files until one of them changes. It starts with the next turn."
    )
    return done(request, said % {"name": name}, to=project_url(access.project, "project_mcp"))


def _govern(request: TeamRequest, project: str) -> Shelf:
    return _shelf(request, project_of(request, project, need=Role.ADMIN))


def _shelf(request: TeamRequest, access: ProjectAccess) -> Shelf:
    project, ip = access.project, client_ip(request)

    def put(name: str, value: JsonValue, seen: str) -> None:
        put_project_item(access, (KEY, name), value, seen=seen, ip=ip)

    list_url = project_url(project, "project_mcp")
    return Shelf(
        own=servers_in(project.config),
        below=below_project(project),
        put=put,
        put_secret=lambda name, value: set_secret(access, name=name, value=value, ip=ip),
        address=lambda act, name: project_url(project, f"project_mcp_server{act}", name=name),
        list_url=list_url,
        catalog_url=project_url(project, "project_mcp_catalog"),
        new_url=project_url(project, "project_mcp_new"),
        projects=Project.objects.filter(pk=project.pk),
        frame={
            "rail": load_rail(request.access, rail_filter(request)),
            "project": project,
            "crumbs": [
                {"label": project.name, "url": project_url(project)},
                {"label": _("MCP servers"), "url": list_url},
            ],
        },
        page="sessions/project_mcp_server.html",
    )
