from __future__ import annotations

from typing import TypedDict

from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from sessions.actions.budgets import set_budgets
from sessions.config.cost_limit import team_session_cost
from sessions.present.pages.budgets.notices import BudgetWarning, load_warnings
from sessions.present.pages.budgets.page import budgets_of, budgets_url, load_budgets, people_of
from sessions.present.pages.budgets.requests import load_own, load_waiting
from sessions.visibility import projects_in
from teams.access import TeamAccess, require_role
from teams.actions.budgets import put_away_notice
from teams.budget_form import BudgetForm, LimitForm
from teams.budget_notices import access_notice
from teams.budgets import is_monthly
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Budget, Membership, Role

# Those on which warnings stand, and the names of their addresses.
_PAGES = {"home": "team_home", "usage": "sessions:usage", "budgets": "sessions:budgets"}


@require_http_methods(["GET", "POST"])
@team_view(need=None)
def budgets(request: TeamRequest) -> HttpResponse:
    """Read the budgets, all of them or one's own, or change them."""
    if request.method == "GET":
        return budgets_page(request)
    access = request.access
    require_role(access, Role.BILLING)
    form = _form(access, people_of(access), budgets_of(access.team), request.POST)
    ip = client_ip(request)
    changed = attempt(form, lambda: set_budgets(access, **form.to_arguments(), ip=ip))
    if changed is None:
        return budgets_page(request, form=form, status=422)
    said = _("Saved. Sessions that wait for budget are checked again.")
    return done(request, said, to=budgets_url(request.team))


def budgets_page(
    request: TeamRequest,
    *,
    form: BudgetForm | None = None,
    more_form: LimitForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """All budgets that the person may see, with the forms of who may change them."""
    access = request.access
    people, rows = people_of(access), budgets_of(access.team)
    if access.sees_spending:
        form = form or _form(access, people, rows)
        more_form = more_form or limit_form(access, people)
    context: dict[str, object] = {
        "team": request.team,
        "form": form,
        "limit_form": more_form,
        "page": load_budgets(access, people, rows, form),
        "may_change": access.sees_spending,
        "requests": load_waiting(access),
        "own_requests": load_own(access),
        "warnings": load_warnings(access),
        **warning_context(request, "budgets"),
    }
    return render(request, "sessions/budgets.html", context, status=status)


def _form(
    access: TeamAccess,
    people: list[Membership],
    rows: list[Budget],
    data: QueryDict | None = None,
) -> BudgetForm:
    return BudgetForm(
        people,
        [row for row in rows if is_monthly(row)],
        data,
        session=team_session_cost(access.team),
        allows_unpriced=access.team.allows_unpriced_models,
    )


def limit_form(
    access: TeamAccess, people: list[Membership], data: QueryDict | None = None
) -> LimitForm:
    """The form of one budget, with the members and projects that the person sees."""
    projects = projects_in(access).order_by("name", "pk")
    return LimitForm(data, members=people, projects=projects.values_list("pk", "name"))


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
