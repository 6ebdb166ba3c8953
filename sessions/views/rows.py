"""What can be done with a session from a list: its menu, its pin; and the list's own shape."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject, object_of
from sessions.actions.pins import pin_session
from sessions.present.frame.rail import load_rail
from sessions.present.frame.row_menu import RAIL_TASTE, RAIL_WIDTHS, load_row_menu
from sessions.present.place import Place
from sessions.views.requests import rail_filter, session_of
from teams.actions.tastes import remember_taste
from teams.http import TeamRequest, team_view


@require_GET
@never_cache
@team_view()
def row_menu(request: TeamRequest, session: str) -> HttpResponse:
    """For a script the list of acts, for everybody else a page with it."""
    menu = load_row_menu(session_of(request, session))
    if request.htmx:
        return render(request, "sessions/_row_menu.html", {"menu": menu})
    rail = load_rail(request.access, rail_filter(request), current=session)
    return render(request, "sessions/row_menu.html", {"menu": menu, "rail": rail})


@require_POST
@team_view()
def pin(request: TeamRequest, session: str) -> HttpResponse:
    access = session_of(request, session)
    pin_session(access, pinned=request.POST.get("pinned") == "1")
    if request.htmx:
        return HttpResponse(status=204)
    if request.POST.get("from") == "session":
        return redirect(Place.of(access.session).url("session"))
    return redirect("team_home", team=request.team.slug)


@require_POST
@team_view()
def rail_shape(request: TeamRequest) -> HttpResponse:
    """Keep how wide the person's list is and whether it is open: either may come alone."""
    kept = object_of(request.user.preferences, RAIL_TASTE)
    taste: JsonObject = {**kept, **_closed(request), **_width(request)}
    if taste != kept:
        remember_taste(request.user, key=RAIL_TASTE, value=taste)
    return HttpResponse(status=204)


def _closed(request: TeamRequest) -> JsonObject:
    closed = request.POST.get("closed")
    return {} if closed is None else {"closed": closed == "1"}


def _width(request: TeamRequest) -> JsonObject:
    width = request.POST.get("width")
    if width is None:
        return {}
    if not width.isdecimal() or len(width) > 3 or int(width) not in RAIL_WIDTHS:
        raise Invalid(
            f"width must be {RAIL_WIDTHS[0]} to {RAIL_WIDTHS[-1]}, in steps of {RAIL_WIDTHS.step}.",
            field="width",
        )
    return {"width": int(width)}
