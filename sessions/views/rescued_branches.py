from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from opencode_web.lib.errors import Conflict, Invalid
from sessions.actions.rescued_branches import request_branch, request_discard, rescued_work
from sessions.present.pages.rescued_branches import build_rescued
from sessions.present.projects import project_url
from sessions.views.requests import form_of_project, project_of
from teams.http import TeamRequest, team_view
from teams.models import Role

_ANCHOR = "#rescued"


@require_GET
@team_view()
@never_cache
def rescued(request: TeamRequest, project: str) -> HttpResponse:
    """The list by itself; the page of the project asks for it while a worker is at it."""
    access = project_of(request, project)
    if not request.htmx:
        return redirect(project_url(access.project) + _ANCHOR)
    found = build_rescued(access.project, rescued_work(access))
    return render(request, "sessions/_rescued.html", {"rescued": found})


@form_of_project
@team_view()
def branch(request: TeamRequest, project: str, checkout: str) -> HttpResponse:
    access = project_of(request, project, need=Role.MEMBER)
    try:
        request_branch(access, checkout, name=request.POST.get("name", ""))
    except (Conflict, Invalid) as exc:
        messages.error(request, exc.message)
    return redirect(project_url(access.project) + _ANCHOR)


@form_of_project
@team_view(need=Role.ADMIN)
def discard(request: TeamRequest, project: str, checkout: str) -> HttpResponse:
    access = project_of(request, project, need=Role.ADMIN)
    try:
        request_discard(access, checkout)
    except Conflict as exc:
        messages.error(request, exc.message)
    return redirect(project_url(access.project) + _ANCHOR)
