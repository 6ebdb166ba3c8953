"""The forge or an issue tracker of a project: where comments come from, as whom they count, and
what became of them. An empty `tracker` in an address stands for the forge."""

from __future__ import annotations

from collections.abc import Mapping

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from opencode_web.lib.json import JsonObject
from sessions.access import ProjectAccess
from sessions.forges.adapter import ForgeKind
from sessions.forges.registry import NAMES
from sessions.forms.integration import IntegrationForm
from sessions.forms.tracker import TrackerForm
from sessions.integrations.accounts import (
    linked_accounts,
    make_code,
    proposed_links,
)
from sessions.integrations.receive import receive
from sessions.integrations.rules import triggers_of
from sessions.integrations.setup import (
    address_of,
    find_integration,
    problems_of,
    remove_integration,
    require_integration,
    rotate_secret,
    service_accounts,
    set_up_integration,
)
from sessions.integrations.systems import TRACKERS
from sessions.models import Integration, IntegrationRule
from sessions.present.frame.rail import load_rail
from sessions.present.projects import project_url
from sessions.publish_settings import publishing_of
from sessions.views.outside import change_link, newest_told, take_inbound, try_again
from sessions.views.requests import project_of, rail_filter
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Role


@csrf_exempt
@require_POST
def inbound(request: HttpRequest, integration: str) -> HttpResponse:
    """What a forge or an issue tracker sends. It is believed by its signature alone."""

    def take(headers: Mapping[str, str], body: bytes) -> HttpResponse:
        row = receive(integration, headers, body)
        said: JsonObject = {"delivery": row.pk, "state": row.state, "why": row.problem}
        # Linear takes any other status for a failure, and sends it again.
        return JsonResponse(said)

    return take_inbound(request, take)


@require_http_methods(["GET", "POST"])
@never_cache
@team_view()
def integration(request: TeamRequest, project: str) -> HttpResponse:
    """Read it, or set it up."""
    posted = request.method == "POST"
    access = project_of(request, project, need=Role.ADMIN if posted else Role.VIEWER)
    if not posted:
        return show_page(request, access)
    form, ip = IntegrationForm(request.POST, accounts=service_accounts(access)), client_ip(request)
    made = attempt(
        form,
        lambda: set_up_integration(
            access,
            command=form.cleaned_data["command"],
            account_id=form.cleaned_data["account"] and form.cleaned_data["account"].pk,
            **{name: form.cleaned_data[name] for name in ("checks", "pulls", "approves")},
            ip=ip,
        ),
    )
    if made is None:
        return show_page(request, access, form=form, status=422)
    if made[1]:
        # Not by redirect: the secret would have to wait somewhere meanwhile.
        return show_page(request, access, secret=made[1])
    return done(request, _("Saved."), to=page_url(access))


@require_POST
@never_cache
@team_view()
def integration_secret(request: TeamRequest, project: str) -> HttpResponse:
    access = project_of(request, project, need=Role.ADMIN)
    return show_page(request, access, secret=rotate_secret(access, ip=client_ip(request)))


@require_http_methods(["GET", "POST"])
@team_view()
def integration_remove(request: TeamRequest, project: str, tracker: str = "") -> HttpResponse:
    access = project_of(request, project, need=Role.ADMIN)
    require_integration(access, tracker)
    if request.method == "POST":
        remove_integration(access, tracker, ip=client_ip(request))
        return done(request, _("Integration removed."), to=page_url(access, tracker))
    context = {
        "title": _("Remove the integration of %(name)s?") % {"name": access.project.name},
        "text": _(
            "Comments there no longer reach agents, and replies that are not written yet "
            "are dropped. The sessions are kept."
        ),
        "action": _("Remove"),
        "back": page_url(access, tracker),
    }
    return render(request, "teams/confirm.html", context)


@require_POST
@never_cache
@team_view()
def integration_link(request: TeamRequest, project: str, tracker: str = "") -> HttpResponse:
    """Make a code for whoever asks."""
    access = project_of(request, project, need=Role.MEMBER)
    require_integration(access, tracker)
    return show_page(request, access, tracker, code=make_code(access.team))


@require_POST
@team_view()
def integration_linked(
    request: TeamRequest, project: str, linked: int, tracker: str = ""
) -> HttpResponse:
    access = project_of(request, project)
    return change_link(request, access.team, linked, to=page_url(access, tracker))


@require_POST
@team_view()
def integration_repeat(
    request: TeamRequest, project: str, failed: str, tracker: str = ""
) -> HttpResponse:
    access = project_of(request, project, need=Role.ADMIN)
    row = require_integration(access, tracker)
    return try_again(request, access.team, row, failed, to=page_url(access, tracker))


def show_page(
    request: TeamRequest,
    access: ProjectAccess,
    tracker: str = "",
    *,
    form: IntegrationForm | None = None,
    secret: str = "",
    code: str = "",
    status: int = 200,
) -> HttpResponse:
    project, row = access.project, find_integration(access, tracker)
    publishing, may_change = publishing_of(project), access.team.can(Role.ADMIN)
    makes_form, name = IntegrationForm, NAMES[publishing.kind] if publishing.kind else ""
    if tracker:
        makes_form, name = TrackerForm, TRACKERS[tracker].name
    form = form or makes_form(accounts=service_accounts(access), row=row)
    if tracker:
        form.fields["token"].required = row is None
    context = {
        "rail": load_rail(request.access, rail_filter(request)),
        "project": project,
        "row": row,
        "here": page_url(access, tracker),
        "forge": name,
        "steps": TRACKERS[tracker].steps if tracker else "",
        "trackers": [] if tracker else _trackers(access),
        "kind": row.kind if row else "",
        "is_github": publishing.kind is ForgeKind.GITHUB,
        "uses_app": publishing.installation is not None,
        "address": address_of(row) if row else "",
        "problems": problems_of(row, publishing) if row else [],
        "form": form,
        "secret": secret,
        "code": code,
        "may_change": may_change,
        "rules": _rules(row) if row else [],
        "may_link": row is not None and access.team.can(Role.MEMBER),
        "linked": linked_accounts(access.team) if row else [],
        "proposed": proposed_links(access.team) if row else [],
        "deliveries": newest_told(row.deliveries.all()) if row and may_change else [],
        "replies": newest_told(row.replies.exclude(problem="")) if row and may_change else [],
        "crumbs": [
            {"label": project.name, "url": project_url(project)},
            {"label": name if tracker else _("Integration"), "url": ""},
        ],
    }
    page = "sessions/tracker.html" if tracker else "sessions/integration.html"
    return render(request, page, context, status=status)


def _trackers(access: ProjectAccess) -> list[tuple[str, str, bool]]:
    """Returns: of each its name, its page, and whether it is set up."""
    rows = Integration.objects.filter(project=access.project, is_tracker=True)
    known = set(rows.values_list("kind", flat=True))
    return [(one.name, page_url(access, kind), kind in known) for kind, one in TRACKERS.items()]


def _rules(row: Integration) -> list[tuple[IntegrationRule, Promise]]:
    words = triggers_of(row)
    return [(one, words[one.trigger]) for one in row.rules.select_related("account")]


def page_url(access: ProjectAccess, tracker: str = "") -> str:
    """Returns: the page of the project's forge, or of an issue tracker."""
    if tracker:
        return project_url(access.project, "tracker", tracker=tracker)
    return project_url(access.project, "integration")
