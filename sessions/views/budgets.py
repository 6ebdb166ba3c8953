from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from sessions.actions.budgets import set_budgets
from sessions.cost_limit import team_session_cost
from sessions.present.budgets import budgets_url, load_budgets, people_of
from teams.access import require_role
from teams.budget_form import BudgetForm
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Budget, Role


@require_http_methods(["GET", "POST"])
@team_view(need=None)
def budgets(request: TeamRequest) -> HttpResponse:
    """Read the budgets, all of them or one's own, or change them."""
    access = request.access
    may_change = access.sees_spending
    people, rows = people_of(access), list(Budget.objects.filter(team=request.team))
    data = request.POST if request.method == "POST" else None
    form = BudgetForm(people, rows, data, session=team_session_cost(request.team))
    if request.method == "POST":
        require_role(access, Role.BILLING)
        ip = client_ip(request)
        changed = attempt(form, lambda: set_budgets(access, **form.to_arguments(), ip=ip))
        if changed is not None:
            said = _("Saved. Sessions that wait for a budget look again.")
            return done(request, said, to=budgets_url(request.team))
    context = {
        "team": request.team,
        "form": form if may_change else None,
        "page": load_budgets(access, people, rows, form if may_change else None),
        "may_change": may_change,
    }
    status = 422 if form.is_bound else 200
    return render(request, "sessions/budgets.html", context, status=status)
