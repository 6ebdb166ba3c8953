"""Everything that is set for one project, on a page of its own."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from sessions.access import ProjectAccess
from sessions.actions.projects import delete_project
from sessions.actions.whole_settings import replace_project_settings
from sessions.config.network import REACHES, project_network
from sessions.forms.fields import SettingsForm
from sessions.present.frame.rail import load_rail
from sessions.present.members import load_project_members
from sessions.present.pages.mcp.servers import summary_of
from sessions.present.pages.saved_rules import load_rules
from sessions.present.projects import build_page, project_url
from sessions.rules.sources import problems_of
from sessions.views.requests import form_of_project, project_of, rail_filter
from sessions.views.team_settings import form_of, said, save
from teams.http import TeamRequest, done, team_view
from teams.models import Role


@require_http_methods(["GET", "POST"])
@team_view()
def project_settings(request: TeamRequest, project: str) -> HttpResponse:
    posted = request.method == "POST"
    access = project_of(request, project, need=Role.ADMIN if posted else Role.VIEWER)
    if not posted:
        return _page(request, access)
    form = SettingsForm(request.POST)
    saved = save(
        form,
        lambda data, seen, agreed: replace_project_settings(access, data, seen=seen, agreed=agreed),
    )
    if saved is None:
        return _page(request, access, form, status=422)
    to = project_url(access.project, "project_settings")
    return done(request, said(request.team, saved, form), to=to)


@form_of_project
@team_view(need=Role.ADMIN)
def project_delete(request: TeamRequest, project: str) -> HttpResponse:
    access = project_of(request, project, need=Role.ADMIN)
    delete_project(access)
    home = reverse("team_home", kwargs={"team": request.team.slug})
    return done(request, _("%(name)s deleted.") % {"name": access.project.name}, to=home)


def _page(
    request: TeamRequest,
    access: ProjectAccess,
    form: SettingsForm | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    project = access.project
    context = {
        "rail": load_rail(request.access, rail_filter(request)),
        "project": build_page(project),
        "pages": _pages(access),
        "members": load_project_members(access),
        "rules": load_rules(access),
        "settings": _settings(access, form),
        "crumbs": [
            {"label": project.name, "url": project_url(project)},
            {"label": _("Settings"), "url": ""},
        ],
    }
    return render(request, "sessions/project_settings.html", context, status=status)


def _pages(access: ProjectAccess) -> list[dict[str, str]]:
    """What has a page of its own, and what is set there."""
    project = access.project
    reach = _(REACHES[project_network(project).reach])
    told = (
        (
            "repository",
            _("Agent files"),
            _("Skills, agents, commands and tools in this repository"),
        ),
        ("project_mcp", _("MCP servers"), summary_of(project)),
        ("project_network", _("Network"), _("Network access: %(reach)s") % {"reach": reach}),
        ("secrets", _("Secrets"), _("Secret variables for commands")),
        (
            "publishing",
            _("Publishing"),
            _("Where branches are pushed and pull requests are opened"),
        ),
        ("integration", _("Integration"), _("Comments on the forge that start sessions")),
        ("schedules", _("Schedules"), _("Prompts sent at set times")),
    )
    return [
        {"url": project_url(project, name), "label": label, "about": about}
        for name, label, about in told
    ]


def _settings(access: ProjectAccess, form: SettingsForm | None) -> dict[str, object] | None:
    """The settings can hold headers and tokens, so only who may change them gets them at all."""
    if not access.team.can(Role.ADMIN):
        return None
    project = access.project
    return {
        "form": form or form_of(project.config),
        "url": project_url(project, "project_settings"),
        "back_url": project_url(project, "project_settings"),
        "delete_url": project_url(project, "project_delete"),
        "name": project.name,
        "problems": problems_of(project),
    }
