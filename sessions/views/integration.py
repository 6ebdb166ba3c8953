"""The forge of a project: where comments come from, as whom they count, and what became of them."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from opencode_web.lib.errors import AppError
from opencode_web.lib.json import JsonObject
from sessions.access import ProjectAccess
from sessions.forges.adapter import ForgeKind
from sessions.forges.registry import NAMES
from sessions.forms.integration import IntegrationForm
from sessions.integrations.accounts import (
    confirm_link,
    linked_accounts,
    make_code,
    proposed_links,
    unlink,
)
from sessions.integrations.receive import receive
from sessions.integrations.repeat import repeat_failed
from sessions.integrations.rules import TRIGGERS
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
from sessions.models import InboundDelivery, Integration, IntegrationRule, OutsideReply
from sessions.present.frame.rail import load_rail
from sessions.present.projects import project_url
from sessions.present.stored_text import stored_text
from sessions.publish_settings import publishing_of
from sessions.views.requests import project_of, rail_filter
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Role

_SHOWN = 20


@csrf_exempt
@require_POST
def inbound(request: HttpRequest, integration: str) -> HttpResponse:
    """What a forge sends. It is believed by its signature alone."""
    try:
        headers = {name.lower(): value for name, value in request.headers.items()}
        row = receive(integration, headers, request.body)
    except AppError as exc:
        refused: JsonObject = {"error": str(exc)}
        return JsonResponse(refused, status=exc.status)
    said: JsonObject = {"delivery": row.pk, "state": row.state, "why": row.problem}
    return JsonResponse(said, status=202)


@require_http_methods(["GET", "POST"])
@never_cache
@team_view()
def integration(request: TeamRequest, project: str) -> HttpResponse:
    """Read it, or set it up."""
    posted = request.method == "POST"
    access = project_of(request, project, need=Role.ADMIN if posted else Role.VIEWER)
    if not posted:
        return _page(request, access)
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
        return _page(request, access, form, status=422)
    if made[1]:
        # Not by redirect: the secret would have to wait somewhere meanwhile.
        return _page(request, access, secret=made[1])
    return done(request, _("Saved."), to=_url(access))


@require_POST
@never_cache
@team_view()
def integration_secret(request: TeamRequest, project: str) -> HttpResponse:
    access = project_of(request, project, need=Role.ADMIN)
    return _page(request, access, secret=rotate_secret(access, ip=client_ip(request)))


@require_http_methods(["GET", "POST"])
@team_view()
def integration_remove(request: TeamRequest, project: str) -> HttpResponse:
    access = project_of(request, project, need=Role.ADMIN)
    require_integration(access)
    if request.method == "POST":
        remove_integration(access, ip=client_ip(request))
        return done(request, _("Integration removed."), to=_url(access))
    context = {
        "title": _("Remove the integration of %(name)s?") % {"name": access.project.name},
        "text": _(
            "Comments on the forge no longer reach agents, and replies that are not written yet "
            "are dropped. The sessions are kept."
        ),
        "action": _("Remove"),
        "back": _url(access),
    }
    return render(request, "teams/confirm.html", context)


@require_POST
@never_cache
@team_view()
def integration_link(request: TeamRequest, project: str) -> HttpResponse:
    """Make a code for whoever asks."""
    access = project_of(request, project, need=Role.MEMBER)
    require_integration(access)
    return _page(request, access, code=make_code(access.team))


@require_POST
@team_view()
def integration_linked(request: TeamRequest, project: str, linked: int) -> HttpResponse:
    """Confirm that an account is one's own, or end that it is."""
    access = project_of(request, project)
    if request.POST.get("confirm") == "1":
        confirm_link(access.team, linked)
        return done(request, _("Account linked."), to=_url(access))
    unlink(access.team, linked)
    return done(request, _("Account unlinked."), to=_url(access))


@require_POST
@team_view()
def integration_repeat(request: TeamRequest, project: str, failed: str) -> HttpResponse:
    """Try a delivery or a reply that was given up once more."""
    access = project_of(request, project, need=Role.ADMIN)
    repeat_failed(access.team, require_integration(access), failed)
    return done(request, _("It is tried again."), to=_url(access))


def _page(
    request: TeamRequest,
    access: ProjectAccess,
    form: IntegrationForm | None = None,
    *,
    secret: str = "",
    code: str = "",
    status: int = 200,
) -> HttpResponse:
    project, row = access.project, find_integration(access)
    publishing, may_change = publishing_of(project), access.team.can(Role.ADMIN)
    context = {
        "rail": load_rail(request.access, rail_filter(request)),
        "project": project,
        "row": row,
        "forge": NAMES[publishing.kind] if publishing.kind else "",
        "kind": row.kind if row else "",
        "is_github": publishing.kind is ForgeKind.GITHUB,
        "uses_app": publishing.installation is not None,
        "address": address_of(row) if row else "",
        "problems": problems_of(row, publishing) if row else [],
        "form": form or IntegrationForm(accounts=service_accounts(access), row=row),
        "secret": secret,
        "code": code,
        "may_change": may_change,
        "rules": _rules(row) if row else [],
        "may_link": row is not None and access.team.can(Role.MEMBER),
        "linked": linked_accounts(access.team) if row else [],
        "proposed": proposed_links(access.team) if row else [],
        "deliveries": _deliveries(row) if row and may_change else [],
        "replies": _unwritten(row) if row and may_change else [],
        "crumbs": [
            {"label": project.name, "url": project_url(project)},
            {"label": _("Integration"), "url": ""},
        ],
    }
    return render(request, "sessions/integration.html", context, status=status)


def _rules(row: Integration) -> list[tuple[IntegrationRule, Promise]]:
    return [(one, TRIGGERS[one.trigger]) for one in row.rules.select_related("account")]


def _deliveries(row: Integration) -> list[tuple[InboundDelivery, str]]:
    rows = row.deliveries.order_by("-pk")[:_SHOWN]
    return [(one, stored_text(one.cause, one.problem)) for one in rows]


def _unwritten(row: Integration) -> list[tuple[OutsideReply, str]]:
    """Returns: the replies that could not be written so far, with why."""
    rows = row.replies.exclude(problem="").order_by("-pk")[:_SHOWN]
    return [(one, stored_text(one.cause, one.problem)) for one in rows]


def _url(access: ProjectAccess) -> str:
    return project_url(access.project, "integration")
