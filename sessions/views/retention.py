"""How long a team keeps things, what would go, and what is under a legal hold."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from sessions.actions.holds import hold_named
from sessions.forms.retention import HoldForm, RetentionForm
from sessions.present.pages.retention import load_holds
from sessions.retention.due import preview
from teams.actions.holds import release_hold
from teams.actions.retention import set_retention
from teams.http import TeamRequest, attempt, done, team_view
from teams.models import Role
from teams.retention.days import chosen_days, days_in_force, server_limit


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def retention(request: TeamRequest) -> HttpResponse:
    """Show the days and what goes next; look at others first, or save them."""
    days = chosen_days(request.team)
    if request.method == "GET":
        return _page(request, RetentionForm(days=days))
    form = RetentionForm(request.POST, days=days)
    if "preview" in request.POST:
        return _page(request, form, status=200 if form.is_valid() else 422)

    def act() -> bool:
        set_retention(request.access, form.to_days())
        return True

    if not attempt(form, act):
        return _page(request, form, status=422)
    return done(request, _("Saved. Older data is removed within an hour."), to=_url(request))


@require_POST
@team_view(need=Role.OWNER)
def hold(request: TeamRequest) -> HttpResponse:
    """Set a legal hold."""
    form = HoldForm(request.POST)
    held = attempt(form, lambda: hold_named(request.access, **form.cleaned_data, team=request.team))
    if held is None:
        return _page(request, RetentionForm(days=chosen_days(request.team)), form, status=422)
    return done(request, _("The legal hold is set."), to=_url(request))


@require_POST
@team_view(need=Role.OWNER)
def hold_release(request: TeamRequest, hold: str) -> HttpResponse:
    """Release a legal hold."""
    release_hold(request.access, hold)
    return done(request, _("The legal hold is released."), to=_url(request))


def _url(request: TeamRequest) -> str:
    return reverse("sessions:retention", kwargs={"team": request.team.slug})


def _page(
    request: TeamRequest,
    form: RetentionForm,
    hold_form: HoldForm | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    team, limit = request.team, server_limit()
    tried = form.to_days().within(limit) if form.is_bound and form.is_valid() else None
    context = {
        "form": form,
        "limit": limit,
        "tried": tried is not None,
        "due": preview(team, tried or days_in_force(team)),
        "holds": load_holds(team, may_release=request.access.can(Role.OWNER)),
        "hold_form": (hold_form or HoldForm()) if request.access.can(Role.OWNER) else None,
        "hold_url": reverse("sessions:hold", kwargs={"team": team.slug}),
    }
    return render(request, "sessions/retention.html", context, status=status)
