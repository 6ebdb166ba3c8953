"""Budgets beside those of the form, and requests for more."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from opencode_web.lib.errors import Invalid
from sessions.actions.budget_limits import answer_request, put_limit, remove_limit
from sessions.models import Session
from sessions.present.pages.budgets.page import budgets_url, people_of
from sessions.present.pages.budgets.requests import load_askable, load_own
from sessions.present.place import Place
from sessions.views.budgets import budgets_page, limit_form
from sessions.views.requests import project_of, session_of
from teams.access import require_role
from teams.actions.budget_requests import ask_for_more, put_away_answer
from teams.budget_form import AnswerForm, MoreForm
from teams.budgets.requests import access_request
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Role


@require_POST
@team_view(need=None)
def add(request: TeamRequest) -> HttpResponse:
    """Set a budget."""
    require_role(request.access, Role.BILLING)
    form = limit_form(request.access, people_of(request.access), request.POST)
    row = attempt(
        form,
        lambda: put_limit(
            request.access,
            form.to_limit(),
            amount=form.cleaned_data["amount"],
            ip=client_ip(request),
        ),
    )
    if row is None:
        return budgets_page(request, more_form=form, status=422)
    return done(request, _("Budget saved."), to=budgets_url(request.team))


@require_POST
@team_view(need=None)
def remove(request: TeamRequest, budget: int) -> HttpResponse:
    """Remove a budget."""
    remove_limit(request.access, budget, ip=client_ip(request))
    return done(request, _("Budget removed."), to=budgets_url(request.team))


@require_http_methods(["GET", "POST"])
@team_view(need=Role.MEMBER)
def ask(request: TeamRequest) -> HttpResponse:
    """Ask for more of a budget, from the session that it stops if there is one."""
    session_id, project_id = request.GET.get("session", ""), request.GET.get("project", "")
    session = session_of(request, session_id).session if session_id else None
    if session is not None:
        project_id = session.project_id
    elif project_id:
        project_id = project_of(request, project_id).project.pk
    choices = load_askable(request.access, project_id)
    form = MoreForm(choices, request.POST if request.method == "POST" else None)
    row = attempt(
        form,
        lambda: ask_for_more(
            request.access,
            budget_id=form.cleaned_data["budget"],
            amount=form.cleaned_data["amount"],
            reason=form.cleaned_data["reason"],
            project_id=project_id,
            session_id=session_id,
            ip=client_ip(request),
        ),
    )
    if row is not None:
        return done(request, _("Request sent."), to=_back(request, session))
    context: dict[str, object] = {
        "team": request.team,
        "form": form,
        "has_choices": bool(choices),
        "own": load_own(request.access),
        "back": _back(request, session),
    }
    status = 422 if form.is_bound else 200
    return render(request, "sessions/budget_ask.html", context, status=status)


@require_POST
@team_view(need=None)
def answer(request: TeamRequest, asked: str) -> HttpResponse:
    """Grant or deny a request."""
    row = access_request(request.access, asked)
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
    is_inbox = request.POST.get("page") == "inbox" and request.access.sees_work
    inbox = reverse("sessions:waiting", kwargs={"team": request.team.slug})
    return done(request, said, to=inbox if is_inbox else budgets_url(request.team))


@require_POST
@team_view(need=None)
def answer_away(request: TeamRequest, asked: str) -> HttpResponse:
    """Put the answer to one's own request away."""
    put_away_answer(request.access, access_request(request.access, asked))
    return redirect(budgets_url(request.team))


def _back(request: TeamRequest, session: Session | None) -> str:
    if session is not None:
        return Place.of(session).url("session")
    return budgets_url(request.team)
