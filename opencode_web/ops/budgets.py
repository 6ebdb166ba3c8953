"""The page of the budgets of the whole server, and of requests for more of them."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from opencode_web.lib.errors import Invalid
from opencode_web.ops.access import operator_view
from sessions.actions.budget_limits import (
    answer_request,
    put_instance_limit,
    remove_instance_limit,
)
from sessions.present.pages.budgets.limits import load_instance_limits
from sessions.present.pages.budgets.notices import load_instance_warnings
from sessions.present.pages.budgets.requests import load_instance_waiting
from teams.budget_form import AnswerForm, LimitForm
from teams.budgets.requests import access_instance_request
from teams.http import UserRequest, attempt, client_ip, done


@require_http_methods(["GET", "POST"])
@never_cache
@operator_view
def budgets(request: UserRequest) -> HttpResponse:
    """Read the budgets of the server, or set one."""
    form = LimitForm(request.POST if request.method == "POST" else None, of_instance=True)
    row = attempt(
        form,
        lambda: put_instance_limit(
            request.user,
            form.to_limit(),
            amount=form.cleaned_data["amount"],
            ip=client_ip(request),
        ),
    )
    if row is not None:
        return done(request, _("Budget saved."), to=reverse("ops:budgets"))
    context: dict[str, object] = {
        "form": form,
        "lines": load_instance_limits(),
        "requests": load_instance_waiting(request.user),
        "warnings": load_instance_warnings(),
    }
    return render(request, "ops/budgets.html", context, status=422 if form.is_bound else 200)


@require_POST
@operator_view
def remove(request: UserRequest, budget: int) -> HttpResponse:
    """Remove a budget of the server."""
    remove_instance_limit(request.user, budget, ip=client_ip(request))
    return done(request, _("Budget removed."), to=reverse("ops:budgets"))


@require_POST
@operator_view
def answer(request: UserRequest, asked: str) -> HttpResponse:
    """Grant or deny a request for more of a budget of the server."""
    row = access_instance_request(request.user, asked)
    form = AnswerForm(request.POST)
    if not form.is_valid():
        raise Invalid(_("Enter an amount such as 5.00."))
    answer_request(
        row,
        actor=request.user,
        grant=form.grant,
        answer=form.cleaned_data["answer"],
        ip=client_ip(request),
    )
    said = _("Request denied.") if form.grant is None else _("Budget raised.")
    return done(request, said, to=reverse("ops:budgets"))
