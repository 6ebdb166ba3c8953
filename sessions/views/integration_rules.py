"""The rules of a project by which things on its forge start sessions. Admins see and write them."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from sessions.access import ProjectAccess
from sessions.forms.integration_rule import IntegrationRuleForm
from sessions.integrations.rules import (
    TRIGGERS,
    create_rule,
    delete_rule,
    find_rule,
    move_rule,
    update_rule,
)
from sessions.integrations.setup import require_integration, service_accounts
from sessions.models import IntegrationRule
from sessions.present.frame.rail import load_rail
from sessions.present.projects import project_url
from sessions.views.requests import project_of, rail_filter
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Role


@require_http_methods(["GET", "POST"])
@team_view()
def integration_rules(request: TeamRequest, project: str) -> HttpResponse:
    """Write a new one."""
    access = project_of(request, project, need=Role.ADMIN)
    require_integration(access)
    accounts, ip = service_accounts(access), client_ip(request)
    if request.method != "POST":
        return _page(request, access, IntegrationRuleForm(accounts=accounts))
    form = IntegrationRuleForm(request.POST, accounts=accounts)
    if attempt(form, lambda: create_rule(access, form.draft, ip=ip)) is None:
        return _page(request, access, form, status=422)
    return done(request, _("Rule added."), to=_back(access))


@require_http_methods(["GET", "POST"])
@team_view()
def integration_rule(request: TeamRequest, project: str, forge_rule: str) -> HttpResponse:
    """Read one, or change it."""
    access = project_of(request, project, need=Role.ADMIN)
    row, accounts, ip = find_rule(access, forge_rule), service_accounts(access), client_ip(request)
    if request.method != "POST":
        return _page(request, access, IntegrationRuleForm(accounts=accounts, row=row), row)
    form = IntegrationRuleForm(request.POST, accounts=accounts)
    if attempt(form, lambda: update_rule(access, forge_rule, form.draft, ip=ip)) is None:
        return _page(request, access, form, row, status=422)
    return done(request, _("Saved."), to=_back(access))


@require_http_methods(["GET", "POST"])
@team_view()
def integration_rule_remove(request: TeamRequest, project: str, forge_rule: str) -> HttpResponse:
    access = project_of(request, project, need=Role.ADMIN)
    row = find_rule(access, forge_rule)
    if request.method == "POST":
        delete_rule(access, forge_rule, ip=client_ip(request))
        return done(request, _("Rule removed."), to=_back(access))
    context = {
        "title": _("Remove the rule “%(trigger)s”?") % {"trigger": TRIGGERS[row.trigger]},
        "text": _("It starts no more sessions. Its sessions are kept."),
        "action": _("Remove"),
        "back": reverse("sessions:integration_rule", args=[request.team.slug, project, forge_rule]),
    }
    return render(request, "teams/confirm.html", context)


@require_POST
@team_view()
def integration_rule_up(request: TeamRequest, project: str, forge_rule: str) -> HttpResponse:
    access = project_of(request, project, need=Role.ADMIN)
    move_rule(access, forge_rule, ip=client_ip(request))
    return done(request, _("Rule moved."), to=_back(access))


def _page(
    request: TeamRequest,
    access: ProjectAccess,
    form: IntegrationRuleForm,
    row: IntegrationRule | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    project = access.project
    title = TRIGGERS[row.trigger] if row else _("New rule")
    context = {
        "rail": load_rail(request.access, rail_filter(request)),
        "project": project,
        "row": row,
        "title": title,
        "form": form,
        "crumbs": [
            {"label": project.name, "url": project_url(project)},
            {"label": _("Integration"), "url": _back(access)},
            {"label": title, "url": ""},
        ],
    }
    return render(request, "sessions/integration_rule.html", context, status=status)


def _back(access: ProjectAccess) -> str:
    return project_url(access.project, "integration")
