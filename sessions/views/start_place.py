"""Where a new session will work, beside its first message."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from opencode_web.lib.errors import AppError, Invalid
from opencode_web.lib.json import object_of
from opencode_web.lib.loop import submit
from sessions.browse.ask import WAIT_S, browse
from sessions.browse.file_scope import Where
from sessions.browse.operations import HAS_BRANCH, LIST_BRANCHES
from sessions.checkouts.names import is_branch_name
from sessions.models import Project
from sessions.present.frame.start_place import MAX_PLACES, PLACES, build_start_place, kept_place
from sessions.views.requests import project_of
from teams.actions.tastes import remember_taste
from teams.http import TeamRequest, team_view
from teams.models import Role, User

MAX_BRANCH_CHARS = 250


@require_GET
@team_view()
@never_cache
def start_place(request: TeamRequest) -> HttpResponse:
    """What was chosen, with the branches to start from. The choice for one project is none for
    another: `of` is the project for which it was made."""
    sent = request.GET
    project = project_of(request, sent.get("project", ""), need=Role.MEMBER).project
    is_of_this = sent.get("of") == project.pk
    place = sent.get("place", "") if is_of_this else kept_place(request.user, project)
    branch = sent.get("branch", "").strip()[:MAX_BRANCH_CHARS] if is_of_this else ""
    branches, fault = None, ""
    if place == "own":
        branches = _branches(project)
        # There can be more than are listed.
        fault = "" if branch in branches else branch_fault(project, branch)
    view = build_start_place(
        project,
        request.user,
        place=place,
        branch=branch,
        branches=branches,
        fault=fault,
        private=bool(sent.get("private")),
    )
    return render(request, "sessions/_start_place.html", {"start": view})


def require_branch(project: Project, branch: str) -> None:
    """Raises: Invalid for one that no session can start from."""
    if fault := branch_fault(project, branch):
        raise Invalid(fault, field="branch")


def branch_fault(project: Project, branch: str) -> str:
    """Returns: why no session can start from a branch. Where git does not answer, nothing does."""
    if not branch:
        return ""
    if not is_branch_name(branch):
        return _("This is not a valid branch name.")
    try:
        found = submit(browse(_where(project), HAS_BRANCH, name=branch)).result(WAIT_S * 2)
    except AppError:
        return ""
    return "" if found else _("There is no branch named %(name)s.") % {"name": branch}


def remember_place(user: User, project: Project, place: str) -> None:
    """Have what was chosen for a new session chosen for the person's next one in this project."""
    if place == kept_place(user, project):
        return
    kept = {**object_of(user.preferences, PLACES)}
    kept.pop(project.pk, None)
    if place:
        kept[project.pk] = place
    remember_taste(user, key=PLACES, value=dict(list(kept.items())[-MAX_PLACES:]))


def _branches(project: Project) -> list[str]:
    try:
        return submit(browse(_where(project), LIST_BRANCHES)).result(WAIT_S * 2)
    except AppError:
        return []


def _where(project: Project) -> Where:
    return Where(project.pk, project.host, project.directory)
