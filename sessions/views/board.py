from __future__ import annotations

from dataclasses import replace

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from sessions.present.frame.board import load_board
from sessions.present.frame.rail import load_rail
from sessions.views.requests import rail_filter, remember_filter, render_work
from teams.http import TeamRequest, team_view


@require_GET
@team_view()
def board(request: TeamRequest) -> HttpResponse:
    """The sessions of a team by what is to be done about them."""
    chosen = replace(rail_filter(request), archived=False, board=True)
    context: dict[str, object] = {"board": load_board(request.access, chosen)}
    rail = load_rail(request.access, chosen)
    context["mixed"] = rail.mixed
    if request.htmx:
        return render(request, "sessions/_board.html", context)
    remember_filter(request)
    context["rail"] = rail
    context["crumbs"] = [{"label": _("Board"), "url": ""}]
    return render_work(request, "sessions/board.html", context)
