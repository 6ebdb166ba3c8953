from __future__ import annotations

from csp.constants import SELF, UNSAFE_INLINE
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from sessions.models import Session
from sessions.present.composer import Draft, session_composer
from sessions.present.docks import load_cards, load_queue
from sessions.present.history import load_waiting, load_window, surroundings, window_end
from sessions.present.panel import Pane, build_panel
from sessions.present.place import Place
from sessions.present.queue import QueueEdit
from sessions.present.rail import load_rail
from sessions.present.rollback import load_reverted
from sessions.present.servers import load_servers
from sessions.present.sessions import build_header
from sessions.present.todos import load_todo_dock
from sessions.totals import used_below
from sessions.views.panel import load_pane, pane_fragment
from sessions.views.requests import rail_filter, session_of
from teams.http import TeamRequest, team_view
from teams.models import Role


def session_page(
    request: TeamRequest,
    session: Session,
    draft: Draft | None = None,
    *,
    queue_edit: QueueEdit | None = None,
    status: int = 200,
) -> HttpResponse:
    """The whole workspace. `session` is read before its rows: they may be newer, never older."""
    place = Place.of(session)
    waiting = load_waiting(session)
    before = _number(request, "before") or window_end(session, request.GET.get("at", ""))
    window = load_window(session, surroundings(session, waiting), before=before)
    header = build_header(session, used_below(session))
    asked = request.GET.get("panel", "")
    earlier = {"url": f"{place.url('turns')}?before={window.before}"} if window.before else None
    context = {
        "session": header,
        "servers": load_servers(session),
        "cursor": session.seq,
        "session_url": place.url("session"),
        "window_url": place.url("window"),
        "rail": load_rail(request.team, request.user, rail_filter(request), current=session.pk),
        "turns": window.turns,
        "earlier": earlier,
        "newer_url": place.url("session") if before else "",
        "permissions": load_cards(session, waiting),
        "reverted": load_reverted(session),
        "todos": load_todo_dock(session),
        "queue": load_queue(session),
        "queue_edit": queue_edit,
        "composer": session_composer(session, draft),
        "panel": build_panel(place, request.user.preferences, asked=asked),
        **load_pane(request, session, Pane.CHANGES),
        **load_pane(request, session, asked),
        "crumbs": [{"label": header.project, "url": header.project_url}],
    }
    response = render(request, "sessions/detail.html", context, status=status)
    if request.access.can(Role.MEMBER):
        # The script of terminals draws with style sheets that it makes.
        response._csp_update = {"style-src": [SELF, UNSAFE_INLINE]}  # type: ignore[attr-defined]  # django-csp's
    return response


@require_GET
@team_view()
def session(request: TeamRequest, session: str) -> HttpResponse:
    row = session_of(request, session).session
    if request.htmx and "panel" in request.GET:
        return pane_fragment(request, row)
    return session_page(request, row)


@require_GET
@team_view()
def turns(request: TeamRequest, session: str) -> HttpResponse:
    """Turns before a cursor: for htmx as fragments, for everybody else as a page of the session."""
    row = session_of(request, session).session
    if not request.htmx:
        return session_page(request, row)
    window = load_window(row, surroundings(row, []), before=_number(request, "before"))
    place = Place.of(row)
    earlier = {"url": f"{place.url('turns')}?before={window.before}"} if window.before else None
    context = {"turns": window.turns, "earlier": earlier}
    return render(request, "sessions/turns.html", context)


def _number(request: TeamRequest, name: str) -> int | None:
    text = request.GET.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 16 else None


def home_url(session: Session) -> str:
    return reverse("team_home", kwargs={"team": session.project.team.slug})
