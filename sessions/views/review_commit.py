"""Commit from the review."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from sessions.actions.publish import request_commit_of
from sessions.present.changes.commit import commit_address
from sessions.present.changes.entries import Source
from sessions.present.place import Place
from sessions.views.publish import key_of
from sessions.views.requests import session_of
from sessions.views.review import load_review
from teams.http import TeamRequest, team_view
from teams.models import Role


@require_POST
@team_view()
def commit(request: TeamRequest, session: str) -> HttpResponse:
    """Ask for a commit of what is staged, or of everything. A worker makes it, the pane tells."""
    access = session_of(request, session, need=Role.MEMBER)
    given = request.POST
    is_staged = given.get("which") == "staged"
    request_commit_of(access, message=given.get("message", ""), staged=is_staged, key=key_of(given))
    if not request.htmx:
        return redirect(commit_address(Place.of(access.session), Source.UNCOMMITTED))
    changes = load_review(request, access.session, given, was_asked=True)
    return render(request, "sessions/_changes.html", {"changes": changes})
