from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from sessions.present.pages.terminals import load_terminals
from sessions.present.place import Place
from sessions.views.requests import session_of
from teams.http import TeamRequest, team_view


@require_GET
@team_view()
@never_cache
def terminals(request: TeamRequest, session: str) -> HttpResponse:
    """The list of terminals by itself: what the page asks for when one came, went or ended."""
    access = session_of(request, session)
    if not request.htmx:
        return redirect(f"{Place.of(access.session).url('session')}?panel=terminal")
    context = {"terminals": load_terminals(access)}
    return render(request, "sessions/_terminal_tabs.html", context)
