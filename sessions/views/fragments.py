from __future__ import annotations

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from opencode_web.lib.errors import NotFound
from sessions.models import Part
from sessions.present.conversation.asks import asked_lines, permission_title
from sessions.present.conversation.history import load_waiting, render_context
from sessions.present.conversation.items import build_item
from sessions.present.conversation.tools import build_tool_row
from sessions.present.place import Place
from sessions.runner.log.lease import has_lost_worker
from sessions.stream.frames import render_window
from sessions.views.requests import session_of
from teams.http import TeamRequest, team_view


@require_GET
@team_view()
@never_cache
def window(request: TeamRequest, session: str) -> HttpResponse:
    """One frame that brings a page of any age to now: what a browser asks for after a `reset`."""
    row = session_of(request, session).session
    ops = render_window(row, {}, is_lost=has_lost_worker(row))
    return JsonResponse({"q": row.seq, "k": "h", "ops": ops})


def _part(request: TeamRequest, session: str, part: str) -> tuple[Part, Place]:
    row = session_of(request, session).session
    found = Part.objects.filter(session=row, pk=part).first()
    if found is None:
        raise NotFound("Part", part)
    return found, Place.of(row)


@require_GET
@team_view()
@never_cache
def part(request: TeamRequest, session: str, part: str) -> HttpResponse:
    """A part as it is now: what a browser asks for that missed some of its text."""
    row = session_of(request, session).session
    found, _ = _part(request, session, part)
    item = build_item(found.data, render_context(row, load_waiting(row)))
    if item is None:
        raise NotFound("Part", part)
    context = {"part": item.part, "row": item.row, "group": item.group}
    return render(request, item.template, context)


@require_GET
@team_view()
def body(request: TeamRequest, session: str, part: str) -> HttpResponse:
    """The whole body of a tool row; with `permission` the whole diff that this asks for."""
    found, place = _part(request, session, part)
    if asked := request.GET.get("permission"):
        return _asked_diff(request, found, place, asked)
    row = build_tool_row(found.data, place, whole=True) if found.type == "tool" else None
    if row is None or not row.body_template:
        raise NotFound("Part", part)
    context = {"id": row.id, "body": row.body, "row": row}
    template = row.body_template if request.htmx else "sessions/body.html"
    return render(request, template, context)


def _asked_diff(request: TeamRequest, part: Part, place: Place, asked: str) -> HttpResponse:
    rows = part.session.permissions.filter(pk=asked, call_id=part.data.get("callID", ""))
    if (row := rows.first()) is None:
        raise NotFound("Permission request", asked)
    lines = asked_lines(row, place, show_long=True)
    context = {"id": row.pk, "label": permission_title(row, place), "lines": lines}
    return render(request, "sessions/body.html", context)
