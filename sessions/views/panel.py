"""The side panel: each of its tabs by itself, and how a person left it."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.json import JsonObject, object_of
from sessions.models import Session
from sessions.present.pages.context import load_context
from sessions.present.pages.panel import TASTE, WIDTHS, Pane
from sessions.present.pages.previews import load_previews
from sessions.present.pages.terminals import load_terminals
from sessions.present.place import Place
from sessions.views.files import load_files
from sessions.views.requests import app_origin, session_of
from sessions.views.review import load_review
from teams.actions.tastes import remember_taste
from teams.http import TeamRequest, team_view

_FRAGMENTS = {pane.value: f"sessions/_{pane}.html" for pane in Pane}


def load_pane(request: TeamRequest, session: Session, name: str) -> dict[str, object]:
    """Returns: what the fragment of a tab needs; nothing for a name that is none."""
    match name:
        case Pane.CHANGES:
            return {"changes": load_review(request, session)}
        case Pane.FILES:
            return {"files": load_files(request, session)}
        case Pane.TERMINAL:
            return {"terminals": load_terminals(session_of(request, session.pk))}
        case Pane.PREVIEW:
            return {"previews": load_previews(session_of(request, session.pk), app_origin(request))}
        case Pane.CONTEXT:
            return {"context": load_context(session, request.user.pk)}
        case _:
            return {}


def pane_fragment(request: TeamRequest, session: Session) -> HttpResponse:
    """What htmx puts into the panel. Raises: NotFound for a name that is none."""
    name = request.GET.get("panel", "")
    if name not in _FRAGMENTS:
        raise NotFound("Panel", name)
    return render(request, _FRAGMENTS[name], load_pane(request, session, name))


@require_POST
@team_view()
def panel(request: TeamRequest, session: str) -> HttpResponse:
    """Keep how the person likes the page: its panel, and whether thinking is unfolded.

    Each may come alone.
    """
    row = session_of(request, session).session
    kept = object_of(request.user.preferences, TASTE)
    taste: JsonObject = {**kept, **_shown(request), **_width(request), **_thinking(request)}
    if taste != kept:
        remember_taste(request.user, key=TASTE, value=taste)
    if "thinking" in request.POST and not request.htmx:
        return redirect(Place.of(row).url("session"))
    return HttpResponse(status=204)


def _thinking(request: TeamRequest) -> JsonObject:
    thinking = request.POST.get("thinking")
    return {} if thinking is None else {"thinking": thinking == "1"}


def _shown(request: TeamRequest) -> JsonObject:
    shown = request.POST.get("shown")
    if shown is None:
        return {}
    if shown and shown not in Pane.values:
        raise Invalid(f"shown must be one of {', '.join(Pane.values)}, or empty.", field="shown")
    return {"shown": shown}


def _width(request: TeamRequest) -> JsonObject:
    width = request.POST.get("width")
    if width is None:
        return {}
    if not width.isdecimal() or len(width) > 3 or int(width) not in WIDTHS:
        raise Invalid(
            f"width must be {WIDTHS[0]} to {WIDTHS[-1]} percent, in steps of five.", field="width"
        )
    return {"width": int(width)}
