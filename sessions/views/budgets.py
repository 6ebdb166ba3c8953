from __future__ import annotations

from typing import TypedDict

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from sessions.actions.budgets import set_budgets
from sessions.config.cost_limit import team_session_cost
from sessions.present.pages.budget_notices import BudgetWarning, load_warnings
from sessions.present.pages.budgets import budgets_url, load_budgets, people_of
from teams.access import require_role
from teams.actions.budgets import put_away_notice
from teams.budget_form import BudgetForm
from teams.budget_notices import access_notice
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Budget, Role

# Those on which warnings stand, and the names of their addresses.
_PAGES = {"home": "team_home", "usage": "sessions:usage", "budgets": "sessions:budgets"}


@require_http_methods(["GET", "POST"])
@team_view(need=None)
def budgets(request: TeamRequest) -> HttpResponse:
    """Read the budgets, all of them or one's own, or change them."""
    access = request.access
    may_change = access.sees_spending
    people, rows = people_of(access), list(Budget.objects.filter(team=request.team))
    data = request.POST if request.method == "POST" else None
    form = BudgetForm(
        people,
        rows,
        data,
        session=team_session_cost(request.team),
        allows_unpriced=request.team.allows_unpriced_models,
    )
    if request.method == "POST":
        require_role(access, Role.BILLING)
        ip = client_ip(request)
        changed = attempt(form, lambda: set_budgets(access, **form.to_arguments(), ip=ip))
        if changed is not None:
            said = _("Saved. Sessions that wait for budget are checked again.")
            return done(request, said, to=budgets_url(request.team))
    context = {
        "team": request.team,
        "form": form if may_change else None,
        "page": load_budgets(access, people, rows, form if may_change else None),
        "may_change": may_change,
        "warnings": load_warnings(access),
        **warning_context(request, "budgets"),
    }
    status = 422 if form.is_bound else 200
    return render(request, "sessions/budgets.html", context, status=status)


@require_POST
@team_view(need=None)
def notice_away(request: TeamRequest, notice: int) -> HttpResponse:
    """Put a warning away, and go on where it stood."""
    put_away_notice(request.access, access_notice(request.access, notice))
    page = request.POST.get("page", "")
    return redirect(_PAGES.get(page, _PAGES["budgets"]), team=request.team.slug)


class WarningContext(TypedDict):
    """What the warnings need that stand on top of a page."""

    unread: list[BudgetWarning]
    notices_page: str
    budgets_url: str


def warning_context(request: TeamRequest, page: str) -> WarningContext:
    """`page`: one of `_PAGES`."""
    return {
        "unread": load_warnings(request.access, unread=True),
        "notices_page": page,
        "budgets_url": budgets_url(request.team),
    }
