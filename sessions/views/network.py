"""What commands reach, of a team and of a project: everybody reads it, admins set it."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_http_methods
from pydantic import ValidationError

from opencode_web.lib.json import JsonObject
from sessions.access import ProjectAccess
from sessions.actions.network import set_project_network, set_team_network
from sessions.config.network import (
    REACHES,
    Network,
    NetworkConfig,
    ceiling,
    project_network,
    read_network,
    team_network,
)
from sessions.forms.network import NetworkForm
from sessions.present.frame.rail import load_rail
from sessions.present.projects import project_url
from sessions.views.requests import project_of, rail_filter
from teams.access import require_role
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Role
from tools.sandbox.hosts import Reach

_SAVED = gettext_noop("Saved. This applies to commands started from now on.")


@require_http_methods(["GET", "POST"])
@team_view()
def team(request: TeamRequest) -> HttpResponse:
    """The most that commands of the team's projects may reach."""
    stored, most = _stored(request.team.config), ceiling()
    if request.method != "POST":
        return _team_page(request, NetworkForm(stored=stored, most=most))
    require_role(request.access, Role.ADMIN)
    form, ip = NetworkForm(request.POST, stored=stored, most=most), client_ip(request)
    saved = attempt(form, lambda: set_team_network(request.access, form.to_config(), ip=ip))
    if saved is None:
        return _team_page(request, form, status=422)
    url = reverse("sessions:team_network", kwargs={"team": request.team.slug})
    return done(request, _(_SAVED), to=url)


@require_http_methods(["GET", "POST"])
@team_view()
def project(request: TeamRequest, project: str) -> HttpResponse:
    """What commands of one project reach: no more than the team's."""
    posted = request.method == "POST"
    access = project_of(request, project, need=Role.ADMIN if posted else Role.VIEWER)
    stored = _stored(access.project.config)
    upper = team_network(request.team)
    above = _("Same as the team: %(reach)s") % {"reach": _(REACHES[upper.reach])}
    data = request.POST if posted else None
    form = NetworkForm(data, stored=stored, most=upper.reach, above=above)
    if not posted:
        return _project_page(request, access, form, upper)
    ip = client_ip(request)
    saved = attempt(form, lambda: set_project_network(access, form.to_config(), ip=ip))
    if saved is None:
        return _project_page(request, access, form, upper, status=422)
    return done(request, _(_SAVED), to=project_url(access.project, "project_network"))


def _stored(config: JsonObject) -> NetworkConfig | None:
    try:
        return read_network(config)
    except ValidationError:
        # It allows nothing, and the next one that is saved takes its place.
        return None


def _in_force(network: Network) -> dict[str, Any]:
    lists = network.hosts.lists if network.hosts else ()
    return {
        "name": _(REACHES[network.reach]),
        "open": network.reach is Reach.OPEN,
        "lists": [(one.owner, [str(pattern) for pattern in one.patterns]) for one in lists],
    }


def _team_page(request: TeamRequest, form: NetworkForm, *, status: int = 200) -> HttpResponse:
    context = {
        "form": form,
        "in_force": _in_force(team_network(request.team)),
        "may_change": request.access.can(Role.ADMIN),
        "ceiling": _(REACHES[ceiling()]) if ceiling() is not Reach.OPEN else "",
    }
    return render(request, "sessions/network.html", context, status=status)


def _project_page(
    request: TeamRequest,
    access: ProjectAccess,
    form: NetworkForm,
    upper: Network,
    *,
    status: int = 200,
) -> HttpResponse:
    row = access.project
    context = {
        "rail": load_rail(request.access, rail_filter(request)),
        "project": row,
        "form": form,
        "in_force": _in_force(project_network(row)),
        "may_change": access.team.can(Role.ADMIN),
        "ceiling": _(REACHES[upper.reach]) if upper.reach is not Reach.OPEN else "",
        "crumbs": [
            {"label": row.name, "url": project_url(row)},
            {"label": _("Network"), "url": ""},
        ],
    }
    return render(request, "sessions/project_network.html", context, status=status)
