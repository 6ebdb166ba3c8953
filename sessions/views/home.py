from __future__ import annotations

from dataclasses import replace

from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from sessions.models import Project
from sessions.notifications.mentions import unread_mentions
from sessions.present.approvals import load_for_inbox
from sessions.present.conversation.waiting import Inbox, load_inbox
from sessions.present.frame.composer import Draft, start_composer
from sessions.present.frame.rail import Group, Rail, load_rail
from sessions.present.pages.budgets.page import with_funds
from sessions.present.pages.budgets.requests import load_own, load_waiting
from sessions.present.pages.mcp.sign_ins import sign_in_notices
from sessions.present.projects import ProjectLine, build_line
from sessions.secrets import project_redactors
from sessions.views.budgets import warning_context
from sessions.views.drafts import kept_for_any
from sessions.views.requests import rail_filter, remember_filter, render_work
from sessions.visibility import oversees, projects_in, sessions_in
from teams.access import TeamAccess
from teams.emergencies import emergency_notices
from teams.http import TeamRequest, team_view


def projects_of(access: TeamAccess) -> list[Project]:
    """Ready ones first, each with its team and the number of sessions that its list has."""
    listed = Q(sessions__archived_at=None, sessions__parent=None)
    if not oversees(access.membership):
        listed &= Q(sessions__is_private=False) | Q(sessions__owner=access.user)
    rows = projects_in(access).annotate(session_count=Count("sessions", filter=listed))
    ordered = rows.select_related("team").order_by("name", "pk")
    return sorted(ordered, key=lambda project: project.status != Project.Status.READY)


def home_page(
    request: TeamRequest, draft: Draft | None = None, *, status: int = 200
) -> HttpResponse:
    team = request.team
    projects = projects_of(request.access)
    ready = [project for project in projects if project.status == Project.Status.READY]
    chosen = rail_filter(request)
    rail = load_rail(request.access, chosen)
    if draft is None:
        usual = Draft(project=chosen.project or last_project(request.access))
        draft = kept_for_any(request.access, usual)
    inbox = load_inbox(request.access)
    warnings = warning_context(request, "home")
    composer = None
    if ready:
        told = [one.whose for one in warnings["unread"]]
        composer = start_composer(team, ready, request.user, draft)
        composer = with_funds(composer, request.access, told=told)
    redactors = project_redactors([project.pk for project in projects])
    lines: list[ProjectLine] = [build_line(one, redactors[one.pk]) for one in projects]
    context = {
        "rail": rail,
        **_lists(inbox, rail),
        "inbox": inbox,
        "inbox_url": f"{reverse('sessions:waiting', kwargs={'team': team.slug})}?quiet=1",
        "lists_url": f"{rail.url}&list=1",
        "projects": lines,
        "composer": composer,
        "project_new_url": reverse("sessions:project_new", kwargs={"team": team.slug}),
        "crumbs": [],
        "requests": load_waiting(request.access),
        "changes": load_for_inbox(request.access),
        "own_requests": load_own(request.access),
        "emergencies": emergency_notices(request.access),
        "sign_ins": sign_in_notices(request.access),
        **warnings,
    }
    return render_work(request, "sessions/home.html", context, status=status)


def _below(inbox: Inbox, groups: list[Group]) -> list[Group]:
    """Returns: the groups without the sessions that stand above them, to be answered."""
    above = {session.id for session in (*inbox.sessions, *inbox.others)}
    left = [replace(one, rows=[row for row in one.rows if row.id not in above]) for one in groups]
    return [group for group in left if group.rows]


def _lists(inbox: Inbox, rail: Rail) -> dict[str, object]:
    unmatched = rail.filtered and not rail.groups
    return {
        "groups": _below(inbox, rail.groups),
        "archived": rail.archived,
        "mixed": rail.mixed,
        "empty": _("No sessions match this filter.") if unmatched else _empty(inbox, rail),
        "clear_url": rail.all_url if unmatched else "",
        "text": rail.text if unmatched else "",
        "search_url": rail.search_url,
    }


def lists_of_project(rail: Rail) -> dict[str, object]:
    """All of a project's sessions; nothing stands above them."""
    nothing = _("No sessions in this project yet. Start one above.")
    return {
        "groups": rail.groups,
        "archived": rail.archived,
        "empty": _("No archived sessions.") if rail.archived else nothing,
    }


def _empty(inbox: Inbox, rail: Rail) -> str:
    if rail.archived:
        return _("No archived sessions.")
    if inbox.sessions or inbox.others:
        return _("No other sessions.")
    return _("No sessions yet. Start one above.")


def last_project(access: TeamAccess) -> str:
    """Returns: the id of the project somebody worked in last, else their team; may be empty."""
    sessions = sessions_in(access).filter(project__status=Project.Status.READY)
    for rows in (sessions.filter(owner=access.user), sessions):
        found = rows.order_by("-active_at").values_list("project_id", flat=True).first()
        if found:
            return found
    return ""


@require_GET
@team_view(need=None)
def team_home(request: TeamRequest) -> HttpResponse:
    """All sessions; what the team spends for whoever sees none of them."""
    if not request.access.sees_work:
        return redirect("sessions:usage", team=request.team.slug)
    remember_filter(request)
    return home_page(request)


@require_GET
@team_view()
def waiting(request: TeamRequest) -> HttpResponse:
    """The inbox: what agents of the team ask, answered in place; `quiet` as on the home page."""
    context: dict[str, object] = {
        "inbox": load_inbox(request.access),
        "requests": load_waiting(request.access),
        "changes": load_for_inbox(request.access),
        "mentions": unread_mentions(request.access),
        "refresh": request.get_full_path(),
    }
    if request.htmx:
        rows = "sessions/_waiting.html" if "quiet" in request.GET else "sessions/_inbox.html"
        return render(request, rows, context)
    context["rail"] = load_rail(request.access, rail_filter(request))
    context["crumbs"] = [{"label": _("Inbox"), "url": ""}]
    return render_work(request, "sessions/inbox.html", context)


@require_GET
@team_view()
def rail(request: TeamRequest) -> HttpResponse:
    shown = load_rail(request.access, rail_filter(request))
    if kind := request.GET.get("list"):
        of_project = kind == "project"
        lists = lists_of_project(shown) if of_project else _lists(load_inbox(request.access), shown)
        lists["refresh"] = request.get_full_path()
        return render(request, "sessions/_lists.html", lists)
    current = request.GET.get("current", "")
    return render(request, "sessions/_rail.html", {"rail": shown, "current": current})
