"""The rules by which things on a forge or an issue tracker start sessions of a project. Admins see
and write them."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from sessions.access import ProjectAccess
from sessions.forms.integration_rule import IntegrationRuleForm
from sessions.integrations.rules import (
    create_rule,
    delete_rule,
    find_rule,
    move_rule,
    triggers_of,
    update_rule,
)
from sessions.integrations.setup import require_integration, service_accounts
from sessions.integrations.systems import TRACKERS
from sessions.models import IntegrationRule
from sessions.present.frame.rail import load_rail
from sessions.present.projects import project_url
from sessions.views.integration import page_url
from sessions.views.requests import project_of, rail_filter
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Role


@require_http_methods(["GET", "POST"])
@team_view()
def integration_rules(request: TeamRequest, project: str, tracker: str = "") -> HttpResponse:
    """Write a new one."""
    access = project_of(request, project, need=Role.ADMIN)
    of = require_integration(access, tracker)
    accounts, ip = service_accounts(access), client_ip(request)
    if request.method != "POST":
        return _page(
            request, access, IntegrationRuleForm(accounts=accounts, of=of), tracker=tracker
        )
    form = IntegrationRuleForm(request.POST, accounts=accounts, of=of)
    if attempt(form, lambda: create_rule(access, form.draft, tracker=tracker, ip=ip)) is None:
        return _page(request, access, form, tracker=tracker, status=422)
    return done(request, _("Rule added."), to=page_url(access, tracker))


@require_http_methods(["GET", "POST"])
@team_view()
def integration_rule(
    request: TeamRequest, project: str, forge_rule: str, tracker: str = ""
) -> HttpResponse:
    """Read one, or change it."""
    access = project_of(request, project, need=Role.ADMIN)
    row, accounts = find_rule(access, forge_rule, tracker), service_accounts(access)
    of, ip = row.integration, client_ip(request)
    if request.method != "POST":
        form = IntegrationRuleForm(accounts=accounts, of=of, row=row)
        return _page(request, access, form, row, tracker=tracker)
    form = IntegrationRuleForm(request.POST, accounts=accounts, of=of)
    if (
        attempt(form, lambda: update_rule(access, forge_rule, form.draft, tracker=tracker, ip=ip))
        is None
    ):
        return _page(request, access, form, row, tracker=tracker, status=422)
    return done(request, _("Saved."), to=page_url(access, tracker))


@require_http_methods(["GET", "POST"])
@team_view()
def integration_rule_remove(
    request: TeamRequest, project: str, forge_rule: str, tracker: str = ""
) -> HttpResponse:
    access = project_of(request, project, need=Role.ADMIN)
    row = find_rule(access, forge_rule, tracker)
    if request.method == "POST":
        delete_rule(access, forge_rule, tracker=tracker, ip=client_ip(request))
        return done(request, _("Rule removed."), to=page_url(access, tracker))
    context = {
        "title": _("Remove the rule “%(trigger)s”?")
        % {"trigger": triggers_of(row.integration)[row.trigger]},
        "text": _("It starts no more sessions. Its sessions are kept."),
        "action": _("Remove"),
        "back": f"{page_url(access, tracker)}/rules/{row.pk}",
    }
    return render(request, "teams/confirm.html", context)


@require_POST
@team_view()
def integration_rule_up(
    request: TeamRequest, project: str, forge_rule: str, tracker: str = ""
) -> HttpResponse:
    access = project_of(request, project, need=Role.ADMIN)
    move_rule(access, forge_rule, tracker=tracker, ip=client_ip(request))
    return done(request, _("Rule moved."), to=page_url(access, tracker))


def _page(
    request: TeamRequest,
    access: ProjectAccess,
    form: IntegrationRuleForm,
    row: IntegrationRule | None = None,
    *,
    tracker: str = "",
    status: int = 200,
) -> HttpResponse:
    project = access.project
    title = triggers_of(row.integration)[row.trigger] if row else _("New rule")
    here = page_url(access, tracker)
    context = {
        "rail": load_rail(request.access, rail_filter(request)),
        "project": project,
        "row": row,
        "here": here,
        "title": title,
        "form": form,
        "crumbs": [
            {"label": project.name, "url": project_url(project)},
            {"label": TRACKERS[tracker].name if tracker else _("Integration"), "url": here},
            {"label": title, "url": ""},
        ],
    }
    return render(request, "sessions/integration_rule.html", context, status=status)
