from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from sessions.access import ProjectAccess
from sessions.actions.projects import clone_again, delete_project
from sessions.actions.rescued_branches import rescued_work
from sessions.actions.whole_settings import replace_project_settings
from sessions.config.network import REACHES, project_network
from sessions.forms.fields import SettingsForm
from sessions.models import Project
from sessions.present.frame.composer import Composer, Draft, start_composer
from sessions.present.frame.rail import RailFilter, load_rail
from sessions.present.pages.budgets import with_funds
from sessions.present.pages.mcp import summary_of
from sessions.present.pages.rescued_branches import build_rescued
from sessions.present.pages.saved_rules import load_rules
from sessions.present.projects import (
    build_clone,
    build_page,
    project_url,
)
from sessions.rules.sources import problems_of
from sessions.views.drafts import kept_for_new
from sessions.views.home import lists_of_project
from sessions.views.requests import form_of_project, project_of, rail_filter
from sessions.views.team_settings import form_of, said, save
from teams.http import TeamRequest, done, team_view
from teams.models import Role

SAMPLE_PROMPT = "The till test fails. Please fix it."
MAX_LINKED_CHARS = 4_000


def _page(
    request: TeamRequest,
    access: ProjectAccess,
    form: SettingsForm | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    project, team = access.project, request.team
    clone = build_clone(project)
    archived = request.GET.get("archived") == "1"
    own = load_rail(team, request.user, RailFilter(project=project.pk, archived=archived))
    context = {
        "rail": load_rail(team, request.user, rail_filter(request)),
        "project": build_page(project),
        "clone": clone,
        "composer": None if clone else _composer(request, project),
        "try_prompt": SAMPLE_PROMPT
        if project.source == Project.Source.SAMPLE and not own.groups and not archived
        else "",
        **lists_of_project(own),
        "lists_url": f"{own.url}&list=project",
        "import_url": "" if clone else project_url(project, "import"),
        "repository_url": project_url(project, "repository"),
        "schedules_url": project_url(project, "schedules"),
        "mcp_url": project_url(project, "project_mcp"),
        "mcp": summary_of(project),
        "network_url": project_url(project, "project_network"),
        "network": _("Network access: %(reach)s")
        % {"reach": _(REACHES[project_network(project).reach])},
        "rescued": build_rescued(project, rescued_work(access)),
        "secrets_url": project_url(project, "secrets"),
        "publishing_url": project_url(project, "publishing"),
        "rules": load_rules(project),
        "settings": _settings(access, form),
        "crumbs": [{"label": project.name, "url": ""}],
    }
    return render(request, "sessions/project.html", context, status=status)


def _composer(request: TeamRequest, project: Project) -> Composer:
    # A link can fill in the prompt; sending it stays with the person.
    linked = request.GET.get("prompt", "")[:MAX_LINKED_CHARS]
    draft = Draft(text=linked) if linked else kept_for_new(request.user, project)
    composer = start_composer(request.team, [project], request.user, draft, choose=False)
    return with_funds(composer, request.access)


def _settings(access: ProjectAccess, form: SettingsForm | None) -> dict[str, object] | None:
    """The settings can hold headers and tokens, so only who may change them gets them at all."""
    if not access.team.can(Role.ADMIN):
        return None
    project = access.project
    return {
        "form": form or form_of(project.config),
        "url": project_url(project, "project_settings"),
        "back_url": project_url(project),
        "delete_url": project_url(project, "project_delete"),
        "name": project.name,
        "problems": problems_of(project),
    }


@require_GET
@team_view()
def project(request: TeamRequest, project: str) -> HttpResponse:
    return _page(request, project_of(request, project))


@form_of_project
@team_view(need=Role.ADMIN)
def project_settings(request: TeamRequest, project: str) -> HttpResponse:
    access = project_of(request, project, need=Role.ADMIN)
    form = SettingsForm(request.POST)
    saved = save(
        form,
        lambda data, seen, agreed: replace_project_settings(access, data, seen=seen, agreed=agreed),
    )
    if saved is None:
        return _page(request, access, form, status=422)
    return done(request, said(request.team, saved, form), to=project_url(access.project))


@form_of_project
@team_view(need=Role.ADMIN)
def project_delete(request: TeamRequest, project: str) -> HttpResponse:
    access = project_of(request, project, need=Role.ADMIN)
    delete_project(access)
    home = reverse("team_home", kwargs={"team": request.team.slug})
    return done(request, _("%(name)s deleted.") % {"name": access.project.name}, to=home)


@require_GET
@team_view()
@never_cache
def clone(request: TeamRequest, project: str) -> HttpResponse:
    """How far a clone is; the page asks once a second while it runs."""
    row = project_of(request, project).project
    if not request.htmx:
        return redirect(project_url(row))
    shown = build_clone(row)
    if shown is None:
        return _reload(row)
    return render(request, "sessions/_clone.html", {"clone": shown})


def _reload(project: Project) -> HttpResponse:
    return HttpResponse(status=200, headers={"HX-Redirect": project_url(project)})


@form_of_project
@team_view(need=Role.MEMBER)
def clone_retry(request: TeamRequest, project: str) -> HttpResponse:
    access = project_of(request, project, need=Role.MEMBER)
    clone_again(access, url=request.POST.get("url", ""))
    return redirect(project_url(access.project))
