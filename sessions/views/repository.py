from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from sessions.actions.trust import reload_plugins, trust_repository, withdraw_trust
from sessions.present.frame.rail import load_rail
from sessions.present.pages.repository import build_repository_page
from sessions.present.projects import project_url
from sessions.views.requests import form_of_project, project_of, rail_filter
from teams.http import TeamRequest, client_ip, done, team_view
from teams.models import Role


@require_GET
@team_view()
def repository(request: TeamRequest, project: str) -> HttpResponse:
    """What the project's repository brings for agents, and whether it is trusted."""
    row = project_of(request, project).project
    context = {
        "rail": load_rail(request.access, rail_filter(request)),
        "project": row,
        "found": build_repository_page(row),
        "trust_url": project_url(row, "trust"),
        "withdraw_url": project_url(row, "trust_withdraw"),
        "reload_url": project_url(row, "plugins_reload"),
        "crumbs": [
            {"label": row.name, "url": project_url(row)},
            {"label": _("Agent files"), "url": ""},
        ],
    }
    return render(request, "sessions/repository.html", context)


@form_of_project
@team_view(need=Role.ADMIN)
def trust(request: TeamRequest, project: str) -> HttpResponse:
    access = project_of(request, project, need=Role.ADMIN)
    trust_repository(access, digest=request.POST.get("digest", ""), ip=client_ip(request))
    to = project_url(access.project, "repository")
    return done(request, _("These files are trusted until one of them changes."), to=to)


@form_of_project
@team_view(need=Role.ADMIN)
def trust_withdraw(request: TeamRequest, project: str) -> HttpResponse:
    access = project_of(request, project, need=Role.ADMIN)
    withdraw_trust(access, ip=client_ip(request))
    to = project_url(access.project, "repository")
    return done(request, _("The files are no longer trusted."), to=to)


@form_of_project
@team_view(need=Role.ADMIN)
def plugins_reload(request: TeamRequest, project: str) -> HttpResponse:
    access = project_of(request, project, need=Role.ADMIN)
    reload_plugins(access, ip=client_ip(request))
    to = project_url(access.project, "repository")
    return done(request, _("The plugins are loaded again in the next turn of each session."), to=to)
