"""Schedules of a project: all see them, members make some, authors and admins change them."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from opencode_web.lib.errors import NotFound
from sessions.access import ProjectAccess, access_schedule
from sessions.actions.schedule_runs import run_now
from sessions.actions.schedules import (
    create_schedule,
    delete_schedule,
    may_change,
    pause_schedule,
    require_change,
    resume_schedule,
    update_schedule,
)
from sessions.cron_times import times_in_words
from sessions.forms.schedules import ScheduleForm
from sessions.models import Schedule
from sessions.present.frame.rail import load_rail
from sessions.present.projects import project_url
from sessions.present.stored_text import stored_text
from sessions.views.requests import project_of, rail_filter
from teams.access import require_role
from teams.auth import authenticate_user
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Role

PAGE_SIZE = 30


@require_http_methods(["GET", "POST"])
@team_view()
def schedules(request: TeamRequest, project: str) -> HttpResponse:
    """List them, or make one."""
    access = project_of(request, project)
    if request.method != "POST":
        return _show_list(request, access, ScheduleForm())
    require_role(access.team, Role.MEMBER)
    form = ScheduleForm(request.POST)
    ip = client_ip(request)
    made = attempt(form, lambda: create_schedule(access, form.draft, ip=ip))
    if made is None:
        return _show_list(request, access, form, status=422)
    return done(request, _("%(name)s scheduled.") % {"name": made.name}, to=_url(request, made))


@require_http_methods(["GET", "POST"])
@team_view()
def schedule(request: TeamRequest, project: str, schedule: str) -> HttpResponse:
    """Read its runs, or change it."""
    row, access = _find(request, project, schedule)
    if request.method != "POST":
        return _show_one(request, access, row, ScheduleForm(row=row))
    require_change(access, row)
    form = ScheduleForm(request.POST)
    ip = client_ip(request)
    saved = attempt(form, lambda: update_schedule(access, row, form.draft, ip=ip))
    if saved is None:
        return _show_one(request, access, row, form, status=422)
    return done(request, _("Schedule saved. It runs with your permissions."), to=_url(request, row))


@require_POST
@team_view()
def schedule_run(request: TeamRequest, project: str, schedule: str) -> HttpResponse:
    row, access = _find(request, project, schedule, need=Role.MEMBER)
    run = run_now(access, row, ip=client_ip(request))
    said = (
        _("The run could not start: %(detail)s") % {"detail": run.detail}
        if run.session is None
        else _("Run started.")
    )
    return done(request, said, to=_url(request, row))


@require_POST
@team_view()
def schedule_paused(request: TeamRequest, project: str, schedule: str) -> HttpResponse:
    """Pause it, or let it go on."""
    row, access = _find(request, project, schedule, need=Role.MEMBER)
    pause = request.POST.get("paused") == "1"
    act = pause_schedule if pause else resume_schedule
    act(access, row, ip=client_ip(request))
    said = _("Schedule paused.") if pause else _("Schedule resumed.")
    return done(request, said, to=_url(request, row))


@require_http_methods(["GET", "POST"])
@team_view()
def schedule_delete(request: TeamRequest, project: str, schedule: str) -> HttpResponse:
    row, access = _find(request, project, schedule, need=Role.MEMBER)
    require_change(access, row)
    if request.method == "POST":
        delete_schedule(access, row, ip=client_ip(request))
        url = project_url(access.project, "schedules")
        return done(request, _("Schedule %(name)s deleted.") % {"name": row.name}, to=url)
    context = {
        "title": _("Delete the schedule %(name)s?") % {"name": row.name},
        "text": _("It no longer runs, and its list of runs is deleted. Its sessions are kept."),
        "action": _("Delete"),
        "back": _url(request, row),
    }
    return render(request, "teams/confirm.html", context)


def _find(
    request: TeamRequest, project: str, schedule: str, *, need: Role = Role.VIEWER
) -> tuple[Schedule, ProjectAccess]:
    """Raises: NotFound, also for a schedule of another project; Forbidden."""
    row, access = access_schedule(authenticate_user(request.user), schedule, need=need)
    if access.project.pk != project or access.project.team_id != request.team.pk:
        raise NotFound("Schedule", schedule)
    request.access = access.team
    return row, access


def _show_list(
    request: TeamRequest, access: ProjectAccess, form: ScheduleForm, *, status: int = 200
) -> HttpResponse:
    rows = list(access.project.schedules.select_related("author").order_by("created_at"))
    for row in rows:
        # Read for this page and never saved.
        row.paused_reason = stored_text(row.paused_cause, row.paused_reason)
    context = {
        **_frame(request, access),
        "rows": [(row, times_in_words(row.cron, row.timezone)) for row in rows],
        "form": form,
        "may_add": access.team.can(Role.MEMBER),
    }
    return render(request, "sessions/schedules.html", context, status=status)


def _show_one(
    request: TeamRequest,
    access: ProjectAccess,
    row: Schedule,
    form: ScheduleForm,
    *,
    status: int = 200,
) -> HttpResponse:
    runs = row.runs.select_related("session", "by").order_by("-pk")
    before = request.GET.get("before", "")
    if before:
        runs = runs.filter(pk__lt=before)
    shown = list(runs[: PAGE_SIZE + 1])
    for run in shown:
        # Read for this page and never saved.
        run.detail = stored_text(run.cause, run.detail)
    row.paused_reason = stored_text(row.paused_cause, row.paused_reason)
    context = {
        **_frame(request, access, row),
        "row": row,
        "times": times_in_words(row.cron, row.timezone),
        "form": form,
        "may_change": may_change(access, row),
        "runs": shown[:PAGE_SIZE],
        "older": shown[PAGE_SIZE - 1].pk if len(shown) > PAGE_SIZE else "",
        "is_first": not before,
    }
    return render(request, "sessions/schedule.html", context, status=status)


def _frame(
    request: TeamRequest, access: ProjectAccess, row: Schedule | None = None
) -> dict[str, object]:
    project, url = access.project, project_url(access.project, "schedules")
    crumbs = [
        {"label": project.name, "url": project_url(project)},
        {"label": _("Schedules"), "url": url if row else ""},
    ]
    return {
        "project": project,
        "schedules_url": url,
        "rail": load_rail(request.access, rail_filter(request)),
        "crumbs": [*crumbs, {"label": row.name, "url": ""}] if row else crumbs,
    }


def _url(request: TeamRequest, row: Schedule) -> str:
    names = {"team": request.team.slug, "project": row.project_id, "schedule": row.pk}
    return reverse("sessions:schedule", kwargs=names)
