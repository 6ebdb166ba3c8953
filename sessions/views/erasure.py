"""Have a project or the team erased for good, and see how far that is."""

from __future__ import annotations

from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from sessions.access import access_project
from sessions.actions.erasure import request_project_erasure, request_team_erasure
from sessions.forms.erasure import EraseForm
from sessions.present.pages.erasures import access_erasure, told
from teams.auth import authenticate_user
from teams.http import TeamRequest, UserRequest, attempt, go, show, team_view, user_view
from teams.models import Erasure, Role


@require_http_methods(["GET", "POST"])
@team_view(need=Role.OWNER)
def erase(request: TeamRequest) -> HttpResponse:
    """Have it erased."""
    form = EraseForm(request.POST if request.method == "POST" else None, team=request.team)
    row = attempt(form, lambda: _request(request, form))
    if row is not None:
        return go(request, to=reverse("sessions:erasure", args=[row.pk]))
    context: dict[str, object] = {"form": form, "team": request.team}
    status = 422 if request.method == "POST" else 200
    return show(request, "sessions/erase.html", "sessions/_erase.html", context, status=status)


def _request(request: TeamRequest, form: EraseForm) -> Erasure:
    project_id, confirm = form.cleaned_data["what"], form.cleaned_data["confirm"]
    if project_id:
        access = access_project(authenticate_user(request.user), project_id)
        return request_project_erasure(access, confirm=confirm)
    return request_team_erasure(request.access, request.team, confirm=confirm)


@require_GET
@never_cache
@user_view
def erasure(request: UserRequest, erasure: str) -> HttpResponse:
    """How far it is, then what was done."""
    row = access_erasure(request.user, erasure)
    context: dict[str, object] = {
        "row": row,
        "url": request.path,
        "percent": 100 * row.done // row.total if row.total else 0,
        "told": told(row) if row.state == Erasure.State.DONE else [],
    }
    return show(request, "sessions/erasure.html", "sessions/_erasure.html", context)
