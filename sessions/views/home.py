from __future__ import annotations

from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from sessions.models import Project, Session
from sessions.present.composer import Draft, start_composer
from sessions.present.projects import ProjectLine, build_line
from sessions.present.rail import load_rail
from sessions.present.waiting import load_inbox
from sessions.views.requests import rail_filter, remember_filter
from teams.http import TeamRequest, show, team_view
from teams.models import Team, User


def projects_of(team: Team) -> list[Project]:
    """Ready ones first, each with its team and the number of its sessions."""
    rows = Project.objects.filter(team=team).annotate(session_count=Count("sessions"))
    ordered = rows.select_related("team").order_by("name", "pk")
    return sorted(ordered, key=lambda project: project.status != Project.Status.READY)


def home_page(
    request: TeamRequest, draft: Draft | None = None, *, status: int = 200
) -> HttpResponse:
    team = request.team
    projects = projects_of(team)
    ready = [project for project in projects if project.status == Project.Status.READY]
    chosen = rail_filter(request)
    rail = load_rail(team, request.user, chosen)
    draft = draft or Draft(project=chosen.project or last_project(team, request.user))
    lines: list[ProjectLine] = [build_line(project) for project in projects]
    context = {
        "rail": rail,
        "groups": rail.groups,
        "lists_url": f"{rail.url}&list=1",
        "archived": chosen.archived,
        "projects": lines,
        "composer": start_composer(team, ready, draft) if ready else None,
        "project_new_url": reverse("sessions:project_new", kwargs={"team": team.slug}),
        "crumbs": [],
    }
    return render(request, "sessions/home.html", context, status=status)


def last_project(team: Team, user: User) -> str:
    """Returns: the id of the project somebody worked in last, else their team; may be empty."""
    sessions = Session.objects.filter(project__team=team, project__status=Project.Status.READY)
    for rows in (sessions.filter(owner=user), sessions):
        found = rows.order_by("-updated_at").values_list("project_id", flat=True).first()
        if found:
            return found
    return ""


@require_GET
@team_view()
def team_home(request: TeamRequest) -> HttpResponse:
    remember_filter(request)
    return home_page(request)


@require_GET
@team_view()
def waiting(request: TeamRequest) -> HttpResponse:
    """The inbox: what agents of the team ask, answered in place."""
    context: dict[str, object] = {"inbox": load_inbox(request.team), "refresh": request.path}
    if not request.htmx:
        context["rail"] = load_rail(request.team, request.user, rail_filter(request))
        context["crumbs"] = [{"label": "Inbox", "url": ""}]
    return show(request, "sessions/inbox.html", "sessions/_inbox.html", context)


@require_GET
@team_view()
def rail(request: TeamRequest) -> HttpResponse:
    shown = load_rail(request.team, request.user, rail_filter(request))
    if request.GET.get("list"):
        groups = {
            "groups": shown.groups,
            "refresh": request.get_full_path(),
            "archived": shown.archived,
            "empty": "No sessions yet.",
        }
        return render(request, "sessions/_lists.html", groups)
    current = request.GET.get("current", "")
    return render(request, "sessions/_rail.html", {"rail": shown, "current": current})
