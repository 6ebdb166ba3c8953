from __future__ import annotations

from dataclasses import replace

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from opencode_web.lib.errors import NotFound
from sessions.actions.checkouts import checkout_of
from sessions.actions.privacy import may_change_privacy
from sessions.git.branch import branch_of
from sessions.models import ComparedSession, Session
from sessions.present.changes.entries import Changed
from sessions.present.changes.rollback import load_reverted
from sessions.present.conversation.blocks import find_block
from sessions.present.conversation.docks import load_cards, load_queue
from sessions.present.conversation.history import (
    Window,
    load_later,
    load_waiting,
    load_window,
    render_context,
    turn_id_of,
    window_end,
)
from sessions.present.conversation.items import RenderContext
from sessions.present.conversation.queue import QueueEdit
from sessions.present.conversation.todos import load_todo_dock
from sessions.present.frame.composer import Draft, session_composer
from sessions.present.frame.forks import Origin, origins_of
from sessions.present.frame.rail import load_rail
from sessions.present.frame.title_edit import TitleEdit
from sessions.present.pages.activity import silent_since
from sessions.present.pages.budgets.page import with_funds
from sessions.present.pages.panel import build_panel
from sessions.present.pages.servers import load_servers
from sessions.present.pages.subagents import SubPlace, load_sub_place
from sessions.present.place import Place
from sessions.present.pulls import load_pulls
from sessions.present.sessions import Header, build_header
from sessions.runner.log.lease import has_lost_worker
from sessions.totals import used_below
from sessions.views.drafts import kept_in_session
from sessions.views.panel import load_pane, pane_fragment
from sessions.views.requests import rail_filter, render_work, session_of
from teams.http import TeamRequest, team_view


def session_page(
    request: TeamRequest,
    session: Session,
    draft: Draft | None = None,
    *,
    queue_edit: QueueEdit | None = None,
    title_edit: TitleEdit | None = None,
    status: int = 200,
) -> HttpResponse:
    """The whole workspace. `session` is read before its rows: they may be newer, never older."""
    place = Place.of(session)
    waiting = load_waiting(session)
    pulls = load_pulls(session)
    drawn = render_context(session, waiting)
    window = _window(request, session, drawn)
    header = build_header(
        session, used_below(session), models=drawn.model_name, is_lost=has_lost_worker(session)
    )
    if may_change_privacy(request.access, session):
        header = replace(header, privacy_url=place.url("privacy"))
    panel = build_panel(
        place,
        request.user.preferences,
        asked=request.GET.get("panel", ""),
        has_changes=bool(session.summary.get("files")),
        is_full=request.GET.get("full") == "1",
    )
    sub = load_sub_place(session)
    origin = origins_of([session]).get(session.pk)
    context = {
        "session": header,
        "servers": load_servers(session),
        "pull": pulls[0] if pulls else None,
        "origin": origin,
        "compared": ComparedSession.objects.filter(session=session).exists(),
        "cursor": session.seq,
        "silent_since": silent_since(session),
        "session_url": place.url("session"),
        "window_url": place.url("window"),
        "rail": load_rail(request.access, rail_filter(request), current=session.pk),
        "turns": window.turns,
        "earlier": _earlier(place, window),
        "later": _later(place, window),
        "turn_at": turn_id_of(session, request.GET.get("at", "")),
        "permissions": load_cards(session, waiting),
        "reverted": load_reverted(session),
        "todos": load_todo_dock(session),
        "queue": load_queue(session),
        "queue_edit": queue_edit,
        "title_edit": title_edit,
        "hindrance": find_block(session),
        # What a sub-agent does is only read: people write to the session that it works for.
        "composer": None
        if sub
        else with_funds(
            session_composer(
                session, request.user, draft or kept_in_session(request.user, session)
            ),
            request.access,
            session,
        ),
        "sub": sub,
        "panel": panel,
        "changed": Changed.of(session),
        **load_pane(request, session, panel.drawn),
        "crumbs": _crumbs(session, header, sub, origin),
    }
    return render_work(request, "sessions/detail.html", context, status=status)


def _crumbs(
    session: Session, header: Header, sub: SubPlace | None, origin: Origin | None
) -> list[dict[str, str]]:
    checkout = checkout_of(session) if session.folder else None
    branch = checkout.branch if checkout else branch_of(session.project)
    crumbs = [
        {"label": header.project, "url": header.project_url, "is_above": "1", "branch": branch}
    ]
    if origin is not None:
        crumbs.append({"label": origin.text, "url": origin.url, "is_above": "1"})
    if sub is not None:
        crumbs.append({"label": sub.parent, "url": sub.parent_url})
        crumbs.append({"label": header.title, "url": ""})
    return crumbs


@require_GET
@team_view()
def session(request: TeamRequest, session: str) -> HttpResponse:
    row = session_of(request, session).session
    if request.htmx and "panel" in request.GET:
        return pane_fragment(request, row)
    if row.parent_id is not None:
        names = {"team": request.team.slug, "session": row.parent_id, "child": row.pk}
        query = f"?{request.GET.urlencode()}" if request.GET else ""
        return redirect(reverse("sessions:sub", kwargs=names) + query)
    return session_page(request, row)


@require_GET
@team_view()
def sub(request: TeamRequest, session: str, child: str) -> HttpResponse:
    """A sub-agent's conversation. `session`: the one it works for, or the one at the top."""
    row = session_of(request, child).session
    if row.parent_id is None or session not in (row.parent_id, row.root_id):
        raise NotFound("Session", child)
    return session_page(request, row)


@require_GET
@team_view()
def turns(request: TeamRequest, session: str) -> HttpResponse:
    """Turns beside a cursor: for htmx as fragments, for everybody else as a page of the session."""
    row = session_of(request, session).session
    if not request.htmx:
        return session_page(request, row)
    window = _window(request, row, render_context(row, []))
    place = Place.of(row)
    # What is on the other side of the cursor stands in the page.
    context = (
        {"later": _later(place, window)}
        if "start" in request.GET
        else {"earlier": _earlier(place, window)}
    )
    return render(request, "sessions/turns.html", {"turns": window.turns, **context})


def _window(request: TeamRequest, session: Session, context: RenderContext) -> Window:
    """The turns that an address asks for, the newest where it asks for none."""
    if start := _number(request, "start"):
        return load_later(session, context, start=start)
    before = _number(request, "before") or window_end(session, request.GET.get("at", ""))
    return load_window(session, context, before=before)


def _earlier(place: Place, window: Window) -> dict[str, str] | None:
    return {"url": f"{place.url('turns')}?before={window.before}"} if window.before else None


def _later(place: Place, window: Window) -> dict[str, str] | None:
    return {"url": f"{place.url('turns')}?start={window.start}"} if window.start else None


def _number(request: TeamRequest, name: str) -> int | None:
    text = request.GET.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 16 else None
