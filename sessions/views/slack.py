"""The Slack workspace of a team: everybody links an account, admins set it up."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from opencode_web.lib.loop import submit
from opencode_web.lib.outside import waits_outside
from sessions.access import visible_projects
from sessions.forms.slack import ChannelForm, SlackForm
from sessions.integrations.accounts import (
    linked_accounts,
    make_code,
    proposed_links,
)
from sessions.integrations.slack.manifest import build_manifest
from sessions.integrations.slack.receive import receive_slack
from sessions.integrations.slack.setup import (
    Tokens,
    address_of_slack,
    allow_channel,
    connect_slack,
    find_workspace,
    forbid_channel,
    name_of_channel,
    probe,
    problems_of_slack,
    remove_slack,
    require_workspace,
    slack_host,
)
from sessions.models import Project, SlackWorkspace
from sessions.views.outside import change_link, newest_told, take_inbound, try_again
from teams.access import require_role
from teams.auth import authenticate_user
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Role


@csrf_exempt
@require_POST
def slack_inbound(request: HttpRequest, integration: str) -> HttpResponse:
    """It is answered before it is done."""

    def take(headers: Mapping[str, str], body: bytes) -> HttpResponse:
        said = receive_slack(integration, headers, body)
        return JsonResponse(said) if said else HttpResponse(status=200)

    return take_inbound(request, take)


@waits_outside
@require_http_methods(["GET", "POST"])
@never_cache
@team_view(need=Role.VIEWER)
def slack(request: TeamRequest) -> HttpResponse:
    """Read it, or connect it."""
    if request.method != "POST":
        return _page(request)
    require_role(request.access, Role.ADMIN)
    form, ip = SlackForm(request.POST), client_ip(request)
    row = attempt(form, lambda: _connect(request, form, ip))
    if row is None:
        return _page(request, form=form, status=422)
    return _done(request, _("Connected to %(name)s.") % {"name": row.name})


def _connect(request: TeamRequest, form: SlackForm, ip: str | None) -> SlackWorkspace:
    given = form.cleaned_data
    tokens = Tokens(given["bot_token"], given["app_token"], given["secret"])
    found = submit(probe(tokens)).result()
    return connect_slack(request.access, tokens, found, ip=ip)


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def slack_remove(request: TeamRequest) -> HttpResponse:
    row = require_workspace(request.access)
    if request.method == "POST":
        remove_slack(request.access, ip=client_ip(request))
        return _done(request, _("Slack removed."))
    context = {
        "title": _("Remove the Slack workspace %(name)s?") % {"name": row.name},
        "text": _("Messages there no longer reach agents. The sessions are kept."),
        "action": _("Remove"),
        "back": _url(request),
    }
    return render(request, "teams/confirm.html", context)


@waits_outside
@require_POST
@team_view(need=Role.ADMIN)
def slack_channels(request: TeamRequest) -> HttpResponse:
    """Allow a channel."""
    row = require_workspace(request.access)
    form = ChannelForm(request.POST, projects=_projects(request))
    made = attempt(form, lambda: _allow(request, row, form))
    if made is None:
        return _page(request, channel_form=form, status=422)
    return _done(request, _("Channel allowed."))


def _allow(request: TeamRequest, row: SlackWorkspace, form: ChannelForm) -> object:
    channel = form.cleaned_data["channel"].strip()
    name = submit(name_of_channel(row, channel)).result()
    project = form.cleaned_data["project"]
    ip = client_ip(request)
    return allow_channel(request.access, channel, name=name, project_id=project.pk, ip=ip)


@require_POST
@team_view(need=Role.ADMIN)
def slack_channel_remove(request: TeamRequest, channel: int) -> HttpResponse:
    forbid_channel(request.access, channel, ip=client_ip(request))
    return _done(request, _("Channel removed."))


@require_POST
@never_cache
@team_view(need=Role.MEMBER)
def slack_link(request: TeamRequest) -> HttpResponse:
    """Make a code for whoever asks."""
    require_workspace(request.access)
    return _page(request, code=make_code(request.access))


@require_POST
@team_view(need=Role.VIEWER)
def slack_linked(request: TeamRequest, linked: int) -> HttpResponse:
    return change_link(request, request.access, linked, to=_url(request))


@require_POST
@team_view(need=Role.ADMIN)
def slack_repeat(request: TeamRequest, slack_failed: str) -> HttpResponse:
    row = require_workspace(request.access).integration
    return try_again(request, request.access, row, slack_failed, to=_url(request))


def _page(
    request: TeamRequest,
    *,
    form: SlackForm | None = None,
    channel_form: ChannelForm | None = None,
    code: str = "",
    status: int = 200,
) -> HttpResponse:
    row, may_change = find_workspace(request.access), request.access.can(Role.ADMIN)
    host = slack_host(row.workspace) if row else ""
    by_socket = row is None or bool(row.app_token)
    address = address_of_slack(row)
    projects = _projects(request)
    form = form or SlackForm()
    form.fields["bot_token"].required = row is None
    context = {
        "row": row,
        "by_socket": by_socket,
        "is_served": row is not None and row.served_until is not None,
        "address": address,
        "manifest": build_manifest(
            "" if by_socket else address, urlsplit(settings.PUBLIC_URL).hostname or ""
        ),
        "problems": problems_of_slack(row) if row else [],
        "form": form,
        "channel_form": channel_form or ChannelForm(projects=projects),
        # A member reads only the names of what they see.
        "channels": row.channels.filter(project__in=projects).select_related("project")
        if row
        else [],
        "code": code,
        "may_change": may_change,
        "may_link": row is not None and request.access.can(Role.MEMBER),
        "linked": linked_accounts(request.access).filter(host=host),
        "proposed": proposed_links(request.access).filter(host__endswith=".slack.com"),
        "failed": [
            *newest_told(row.integration.deliveries.exclude(problem="")),
            *newest_told(row.integration.replies.exclude(problem="")),
        ]
        if row and may_change
        else [],
    }
    return render(request, "sessions/slack.html", context, status=status)


def _projects(request: TeamRequest) -> QuerySet[Project]:
    return visible_projects(authenticate_user(request.user)).filter(team=request.team)


def _url(request: TeamRequest) -> str:
    return reverse("sessions:slack", kwargs={"team": request.team.slug})


def _done(request: TeamRequest, said: str) -> HttpResponse:
    return done(request, said, to=_url(request))
