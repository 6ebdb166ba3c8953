"""Sessions with the same prompt side by side, to keep one of them."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from opencode_web.lib.errors import Conflict, NotFound
from sessions.actions.compare import compared_with, keep_only, stop_compared
from sessions.present.frame.rail import load_rail
from sessions.present.pages.compare import load_comparison
from sessions.present.place import Place
from sessions.present.sessions import shown_title
from sessions.views.requests import rail_filter, session_of
from teams.http import TeamRequest, go, show, team_view
from teams.models import Role


@require_GET
@team_view()
def compare(request: TeamRequest, session: str) -> HttpResponse:
    """All of them, in their order. While one works, the fragment asks again."""
    access = session_of(request, session)
    row, compared = access.session, compared_with(access)
    if not compared:
        raise NotFound("Comparison", session)
    context: dict[str, object] = {"comparison": load_comparison(row, compared)}
    if not request.htmx:
        filtered = rail_filter(request)
        context["rail"] = load_rail(request.access, filtered, current=row.pk)
        context["current"] = row.pk
        url = Place.of(row).url("session")
        context["crumbs"] = [
            {"label": shown_title(row), "url": url},
            {"label": _("Compare"), "url": ""},
        ]
    return show(request, "sessions/compare.html", "sessions/_compare.html", context)


@require_POST
@team_view()
def keep(request: TeamRequest, session: str) -> HttpResponse:
    """Go on with this one and archive the others."""
    access = session_of(request, session, need=Role.MEMBER)
    place = Place.of(access.session)
    try:
        count = keep_only(access)
    except Conflict as exc:
        messages.error(request, exc.message)
        return go(request, to=place.url("compare"))
    text = ngettext(
        "%(count)s other attempt is archived. You can bring it back on the compare page.",
        "%(count)s other attempts are archived. You can bring them back on the compare page.",
        count,
    )
    messages.success(request, text % {"count": count})
    return go(request, to=place.url("session"))


@require_POST
@team_view()
def stop(request: TeamRequest, session: str) -> HttpResponse:
    """Stop all that still run."""
    access = session_of(request, session, need=Role.MEMBER)
    stop_compared(access)
    return go(request, to=Place.of(access.session).url("compare"))
