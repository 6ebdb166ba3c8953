"""What a person notes while reviewing: files that were viewed, and comments for the agent."""

from __future__ import annotations

from typing import Literal

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_POST
from django_htmx.http import reswap, retarget

from opencode_web.lib.errors import Invalid
from sessions.access import access_comment
from sessions.actions.reviews import (
    Lines,
    add_comment,
    edit_comment,
    mark_viewed,
    remove_comment,
    send_comments,
)
from sessions.models import ReviewComment, Session
from sessions.present.changes.review import blank_changes
from sessions.present.changes.review_comments import quote
from sessions.present.changes.review_options import ReviewOptions
from sessions.present.place import Place
from sessions.views.requests import message_id_of, session_of
from sessions.views.review_source import asked_of, looked_entry, whole_entry
from teams.http import TeamRequest, team_view
from teams.models import Role


@require_POST
@team_view()
def viewed(request: TeamRequest, session: str) -> HttpResponse:
    """Mark a file as viewed, or take the mark away; what was shown has to be what is there."""
    access = session_of(request, session)
    given = request.POST
    asked = asked_of(given)
    entry = looked_entry(request, access.session, asked, given)
    is_viewed = given.get("viewed") == "1"
    mark_viewed(access, path=entry.path, digest=entry.digest, viewed=is_viewed)
    return _back(request, access.session)


@require_POST
@team_view()
def comment(request: TeamRequest, session: str) -> HttpResponse:
    """Keep a comment on lines of a diff, with the lines as they are shown now."""
    access = session_of(request, session, need=Role.MEMBER)
    given = request.POST
    asked = asked_of(given)
    entry = whole_entry(request, access.session, asked, old=given.get("old", ""))
    first, last = _number(given.get("first", "")), _number(given.get("last", ""))
    sides = ReviewComment.Side
    side = sides.OLD if given.get("side") == "old" else sides.NEW
    code = quote(entry.patches, side, first, last)
    lines = Lines(asked.label, entry.path, side.value, first, last, code)
    add_comment(access, lines, body=given.get("body", ""))
    return _back(request, access.session)


@require_POST
@team_view()
def comment_edit(request: TeamRequest, session: str, comment: int) -> HttpResponse:
    access = session_of(request, session, need=Role.MEMBER)
    edit_comment(access_comment(access, comment), body=request.POST.get("body", ""))
    return _back(request, access.session)


@require_POST
@team_view()
def comment_remove(request: TeamRequest, session: str, comment: int) -> HttpResponse:
    access = session_of(request, session, need=Role.MEMBER)
    remove_comment(access_comment(access, comment))
    return _back(request, access.session)


@require_POST
@team_view()
def send(request: TeamRequest, session: str) -> HttpResponse:
    """Send all comments as one message."""
    access = session_of(request, session, need=Role.MEMBER)
    given = request.POST
    delivery: Literal["steer", "queue"] = "queue" if given.get("delivery") == "queue" else "steer"
    message_id = message_id_of(given.get("idempotency", ""))
    count = access.session.review_comments.filter(author=request.user).count()
    sent = send_comments(access, delivery=delivery, message_id=message_id)
    if not request.htmx:
        return _back(request, access.session)
    context = {
        "message": ngettext("Comment sent to the agent.", "Comments sent to the agent.", count),
        "kind": "ok",
        "link_url": Place.of(access.session).message_url(sent.pk, turn=sent.pk),
        "link": gettext("Show the message"),
    }
    told = render(request, "_toast.html", context)
    return reswap(retarget(told, "#toasts"), "beforeend")


def _number(text: str) -> int:
    """Raises: Invalid for what is no number of a line."""
    if not text.isdecimal() or len(text) > 7:
        raise Invalid("This is not a line number.", field="first")
    return int(text)


def _back(request: TeamRequest, session: Session) -> HttpResponse:
    # The pane reads itself again; without scripts the page is read.
    if request.htmx:
        return HttpResponse(status=204)
    asked = asked_of(request.POST)
    return redirect(blank_changes(Place.of(session), asked, ReviewOptions()).address)
