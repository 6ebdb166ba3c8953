"""The search engine of a team: everybody sees which, admins choose it."""

from __future__ import annotations

import asyncio

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from opencode_web.lib.errors import Invalid
from opencode_web.lib.outside import asking, waits_outside
from providers.credentials import mask
from sessions.actions.search import set_up_search, switch_search_off
from sessions.config.model import Config
from sessions.config.web_search import find_engine
from sessions.forms.web_search import SearchForm
from sessions.models import TeamSearch
from teams.access import require_role
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Role
from tools.search.ask import search_web
from tools.search.engine import NAMES, EngineKind, SearchError, WebQuery

_QUESTION = WebQuery("open source coding agents", results=1, max_chars=2_000)


@require_http_methods(["GET", "POST"])
@team_view()
def search(request: TeamRequest) -> HttpResponse:
    """Read the choice, or store another one."""
    row = TeamSearch.objects.filter(team=request.team).first()
    if request.method != "POST":
        return _page(request, row)
    require_role(request.access, Role.ADMIN)
    form = SearchForm(request.POST)
    ip = client_ip(request)
    saved = attempt(form, lambda: set_up_search(request.access, **form.to_arguments(), ip=ip))
    if saved is None:
        return _page(request, row, form=form, status=422)
    name = NAMES[EngineKind(saved.kind)]
    return done(
        request,
        _("Agents of this team now search with %(name)s.") % {"name": name},
        to=_url(request),
    )


@waits_outside
@require_POST
@team_view(need=Role.ADMIN)
def search_test(request: TeamRequest) -> HttpResponse:
    """Ask the engine one question, as an agent would."""
    row = TeamSearch.objects.filter(team=request.team).first()
    try:
        engine = find_engine(request.team.pk, Config())
        if engine is None:
            return _page(request, row, problem=_("No search engine is set up."), status=409)
        with asking(request.user.pk):
            found = asyncio.run(search_web(engine, _QUESTION))
    except (SearchError, Invalid) as exc:
        return _page(request, row, problem=str(exc))
    said = (
        _("%(name)s responded.") % {"name": engine.name}
        if found
        else _("%(name)s responded but found nothing.") % {"name": engine.name}
    )
    return _page(request, row, said=said)


@require_POST
@team_view(need=Role.ADMIN)
def search_off(request: TeamRequest) -> HttpResponse:
    """Forget the engine and its key."""
    switch_search_off(request.access, ip=client_ip(request))
    return done(request, _("Agents of this team no longer search the web."), to=_url(request))


def _page(
    request: TeamRequest,
    row: TeamSearch | None,
    *,
    form: SearchForm | None = None,
    problem: str = "",
    said: str = "",
    status: int = 200,
) -> HttpResponse:
    known = {"kind": row.kind, "address": row.address} if row else {}
    context = {
        "row": row,
        "name": NAMES[EngineKind(row.kind)] if row else "",
        "key": mask(row.last4) if row and row.secret else "",
        "form": form or SearchForm(initial=known),
        "problem": problem,
        "said": said,
        "may_change": request.access.can(Role.ADMIN),
    }
    return render(request, "sessions/search.html", context, status=status)


def _url(request: TeamRequest) -> str:
    return reverse("sessions:search", kwargs={"team": request.team.slug})
