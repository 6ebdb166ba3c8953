"""The GitHub App of a project's team: an admin has GitHub make it, and installs it there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import quote

from csp.constants import SELF
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from opencode_web.lib.errors import Conflict, Invalid, NotFound
from opencode_web.lib.loop import submit
from opencode_web.lib.outside import waits_outside
from sessions.access import ProjectAccess
from sessions.integrations.github_app import (
    Offer,
    connect_app,
    disconnect_app,
    find_app,
    make_app,
    make_state,
    offer_app,
    problems_of_app,
    read_state,
    remove_app,
    require_app,
    require_github,
)
from sessions.integrations.receive import receive_for_app
from sessions.integrations.setup import no_address
from sessions.models import GitHubInstallation
from sessions.present.frame.rail import load_rail
from sessions.present.projects import project_url
from sessions.views.outside import take_inbound
from sessions.views.requests import project_of, rail_filter
from teams.http import TeamRequest, client_ip, done, go, team_view
from teams.models import Role

_MAX_CHARS = 2_000


@csrf_exempt
@require_POST
def inbound(request: HttpRequest, github_app: str) -> HttpResponse:
    """What GitHub sends for all installations of an app."""

    def take(headers: Mapping[str, str], body: bytes) -> HttpResponse:
        rows = receive_for_app(github_app, headers, body)
        return JsonResponse({"deliveries": [row.pk for row in rows]}, status=202)

    return take_inbound(request, take)


@require_GET
@never_cache
@team_view(need=Role.ADMIN)
def github_app(request: TeamRequest, project: str) -> HttpResponse:
    access = project_of(request, project, need=Role.ADMIN)
    try:
        publishing = require_github(access)
    except Conflict as exc:
        messages.error(request, exc.message)
        return go(request, to=project_url(access.project, "integration"))
    app, offers, install_url = find_app(access, publishing), list[Offer](), ""
    installation = GitHubInstallation.objects.filter(pk=access.project.pk, app=app).first()
    problems = problems_of_app(app, installation) if app else []
    if app:
        state = quote(make_state(access, browser=_browser(request)))
        install_url = f"{app.page}/installations/new?state={state}"
    elif settings.PUBLIC_URL:
        offers = offer_app(access, browser=_browser(request))
    else:
        problems.append(no_address())
    context = {
        "rail": load_rail(request.access, rail_filter(request)),
        "project": access.project,
        "repository": publishing.path,
        "app": app,
        "installation": installation,
        "problems": problems,
        "offers": [(one, json.dumps(one.manifest)) for one in offers],
        "install_url": install_url,
        "crumbs": [
            {"label": access.project.name, "url": project_url(access.project)},
            {"label": _("Integration"), "url": project_url(access.project, "integration")},
            {"label": _("GitHub App"), "url": ""},
        ],
    }
    response = render(request, "sessions/github_app.html", context)
    if offers:
        response._csp_update = {"form-action": [SELF, publishing.origin]}  # type: ignore[attr-defined]  # django-csp's
    return response


@waits_outside
@require_GET
@never_cache
@team_view(need=Role.ADMIN)
def created(request: TeamRequest, project: str) -> HttpResponse:
    """Where GitHub sends the browser back to with the code of a new app."""
    access = project_of(request, project, need=Role.ADMIN)
    code, ip = request.GET.get("code", "")[:_MAX_CHARS], client_ip(request)
    try:
        app_id = read_state(access, _state(request), browser=_browser(request), creates=True)
        app = submit(make_app(access, app_id, code, ip=ip)).result()
    except (Invalid, Conflict) as exc:
        messages.error(request, exc.message)
        return go(request, to=_url(access))
    said = _("Created the GitHub App %(name)s. Install it for the repository now.")
    return done(request, said % {"name": app.name}, to=_url(access))


@waits_outside
@require_GET
@never_cache
@team_view(need=Role.ADMIN)
def installed(request: TeamRequest, project: str) -> HttpResponse:
    """Where GitHub sends the browser back to after it has installed the app, or changed that.

    The number of the installation is not read: which one has the repository, GitHub's API says.
    """
    access = project_of(request, project, need=Role.ADMIN)
    if not _state(request):
        # Begun on GitHub: nobody has asked here for anything.
        return go(request, to=_url(access))
    try:
        read_state(access, _state(request), browser=_browser(request), creates=False)
    except Invalid as exc:
        messages.error(request, exc.message)
        return go(request, to=_url(access))
    return _connect(request, access)


@waits_outside
@require_POST
@team_view(need=Role.ADMIN)
def connect(request: TeamRequest, project: str) -> HttpResponse:
    return _connect(request, project_of(request, project, need=Role.ADMIN))


def _connect(request: TeamRequest, access: ProjectAccess) -> HttpResponse:
    try:
        row = submit(connect_app(access, ip=client_ip(request))).result()
    except (Invalid, Conflict, NotFound) as exc:
        messages.error(request, exc.message)
        return go(request, to=_url(access))
    said = _("The GitHub App is used for %(repository)s.") % {"repository": row.repository}
    return done(request, said, to=_url(access))


@require_POST
@team_view(need=Role.ADMIN)
def disconnect(request: TeamRequest, project: str) -> HttpResponse:
    access = project_of(request, project, need=Role.ADMIN)
    disconnect_app(access, ip=client_ip(request))
    return done(request, _("The GitHub App is no longer used for this project."), to=_url(access))


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def remove(request: TeamRequest, project: str) -> HttpResponse:
    access = project_of(request, project, need=Role.ADMIN)
    app = require_app(access)
    if request.method == "POST":
        remove_app(access, ip=client_ip(request))
        return done(request, _("GitHub App removed."), to=_url(access))
    context = {
        "title": _("Remove the GitHub App %(name)s?") % {"name": app.name},
        "text": _(
            "No project of the team uses it any more, and its keys are deleted here. On GitHub it "
            "stays until its owner deletes it there."
        ),
        "action": _("Remove"),
        "back": _url(access),
    }
    return render(request, "teams/confirm.html", context)


def _url(access: ProjectAccess) -> str:
    return project_url(access.project, "github_app")


def _state(request: TeamRequest) -> str:
    return request.GET.get("state", "")[:_MAX_CHARS]


def _browser(request: TeamRequest) -> str:
    return request.session.session_key or ""
