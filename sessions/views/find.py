from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from sessions.present.find import load_found
from sessions.present.rail import load_rail
from sessions.views.requests import rail_filter
from teams.http import TeamRequest, team_view


@require_GET
@never_cache
@team_view()
def find(request: TeamRequest) -> HttpResponse:
    """Sessions and pages by what somebody typed: a page, and for the palette its list."""
    found = load_found(request.access, request.GET.get("q", ""))
    if request.htmx:
        return render(request, "sessions/_found.html", {"found": found})
    rail = load_rail(request.team, request.user, rail_filter(request))
    return render(request, "sessions/find.html", {"found": found, "rail": rail})
