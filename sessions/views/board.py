from __future__ import annotations

from dataclasses import replace

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from sessions.present.frame.board import load_board
from sessions.present.frame.rail import load_rail
from sessions.views.requests import rail_filter, remember_filter
from teams.http import TeamRequest, show, team_view


@require_GET
@team_view()
def board(request: TeamRequest) -> HttpResponse:
    """The sessions of a team by what is to be done about them."""
    chosen = replace(rail_filter(request), archived=False, board=True)
    context: dict[str, object] = {"board": load_board(request.access, chosen)}
    rail = load_rail(request.access, chosen)
    context["mixed"] = rail.mixed
    if not request.htmx:
        remember_filter(request)
        context["rail"] = rail
        context["crumbs"] = [{"label": _("Board"), "url": ""}]
    return show(request, "sessions/board.html", "sessions/_board.html", context)
