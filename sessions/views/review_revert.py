"""Throw away what is not committed of one file."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from opencode_web.lib.errors import NotFound
from sessions.actions.revert import revert_uncommitted
from sessions.present.changes.entries import Source
from sessions.present.changes.review import blank_changes
from sessions.present.changes.review_options import ReviewOptions
from sessions.present.place import Place
from sessions.views.requests import session_of
from sessions.views.review_source import asked_of, looked_entry
from teams.http import TeamRequest, team_view
from teams.models import Role


@require_POST
@team_view(need=Role.MEMBER)
def revert(request: TeamRequest, session: str) -> HttpResponse:
    """Put a file back as the last commit has it; what was shown has to be what is there."""
    access = session_of(request, session, need=Role.MEMBER)
    given = request.POST
    asked = asked_of(given)
    if asked.turn or asked.source is not Source.UNCOMMITTED:
        raise NotFound("Uncommitted file", asked.file)
    entry = looked_entry(request, access.session, asked, given)
    revert_uncommitted(access, entry.path, old=entry.old)
    if request.htmx:
        return HttpResponse(status=204)
    return redirect(blank_changes(Place.of(access.session), asked, ReviewOptions()).address)
