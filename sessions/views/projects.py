from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from opencode_web.lib.errors import AppError
from opencode_web.lib.loop import submit
from sessions.access import ProjectAccess
from sessions.actions.projects import clone_again
from sessions.actions.rescued_branches import rescued_work
from sessions.browse.ask import WAIT_S, browse
from sessions.browse.file_scope import Where
from sessions.browse.operations import LAST_COMMIT
from sessions.models import Project
from sessions.present.frame.composer import Composer, Draft, start_composer
from sessions.present.frame.rail import Rail, RailFilter, load_rail
from sessions.present.pages.budgets.page import with_funds
from sessions.present.pages.project_overview import CommitLine, build_commit, build_overview
from sessions.present.pages.rescued_branches import build_rescued
from sessions.present.projects import build_clone, build_page, project_url
from sessions.views.drafts import kept_for_new
from sessions.views.home import lists_of_project
from sessions.views.requests import form_of_project, project_of, rail_filter, render_work
from teams.http import TeamRequest, team_view
from teams.models import Role

SAMPLE_PROMPT = gettext_noop("The till test fails. Please fix it.")
MAX_LINKED_CHARS = 4_000


def _page(request: TeamRequest, access: ProjectAccess) -> HttpResponse:
    project = access.project
    clone = build_clone(project)
    archived = request.GET.get("archived") == "1"
    own = load_rail(request.access, RailFilter(project=project.pk, archived=archived))
    composer = None if clone else _composer(request, project)
    shown = build_page(project)
    rail = load_rail(request.access, rail_filter(request))
    context = {
        "rail": rail,
        # Beside the list of sessions the page does not repeat them.
        "is_repeated": not archived and _ids(rail) == _ids(own),
        "project": shown,
        "overview": build_overview(access, shown.branch, composer) if composer else None,
        "commit": _commit(project) if composer and "commit" in request.GET else None,
        "settings_url": project_url(project, "project_settings"),
        "clone": clone,
        "composer": composer,
        "try_prompt": _(SAMPLE_PROMPT)
        if project.source == Project.Source.SAMPLE and not own.groups and not archived
        else "",
        **lists_of_project(own),
        "lists_url": f"{own.url}&list=project",
        "import_url": "" if clone else project_url(project, "import"),
        "rescued": build_rescued(project, rescued_work(access)),
        "crumbs": [{"label": project.name, "url": ""}],
    }
    return render_work(request, "sessions/project.html", context)


def _ids(rail: Rail) -> set[str]:
    return {row.id for group in rail.groups for row in group.rows}


def _composer(request: TeamRequest, project: Project) -> Composer:
    # A link can fill in the prompt; sending it stays with the person.
    linked = request.GET.get("prompt", "")[:MAX_LINKED_CHARS]
    draft = Draft(text=linked) if linked else kept_for_new(request.user, project)
    composer = start_composer(request.team, [project], request.user, draft, choose=False)
    return with_funds(composer, request.access)


def _commit(project: Project) -> CommitLine:
    """The newest commit, from the host of the files. It decorates, so what fails is a sentence."""
    where = Where(project.pk, project.host, project.directory)
    try:
        return build_commit(submit(browse(where, LAST_COMMIT)).result(WAIT_S * 2))
    except AppError as exc:
        return CommitLine(error=exc.message)


@require_GET
@team_view()
def project(request: TeamRequest, project: str) -> HttpResponse:
    """Sessions, and how the project stands; with `commit`, which takes a moment, also by what."""
    access = project_of(request, project)
    if request.htmx and "commit" in request.GET:
        return render(request, "sessions/_last_commit.html", {"commit": _commit(access.project)})
    return _page(request, access)


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
@team_view()
def clone_retry(request: TeamRequest, project: str) -> HttpResponse:
    access = project_of(request, project, need=Role.MEMBER)
    clone_again(access, url=request.POST.get("url", ""))
    return redirect(project_url(access.project))
