"""What becomes of what is not committed: stage lines of a file, or throw them or all of it away."""

from __future__ import annotations

from dataclasses import astuple

from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from opencode_web.lib.errors import NotFound
from opencode_web.lib.hunks import HunkRange, ranges_of
from sessions.actions.revert import note_staged, require_files_at_rest, revert_uncommitted
from sessions.browse.operations import STAGE_HUNK
from sessions.models import Session
from sessions.present.changes.entries import Asked, Source
from sessions.present.changes.review import blank_changes
from sessions.present.changes.review_options import ReviewOptions
from sessions.present.place import Place
from sessions.views.files import ask_files
from sessions.views.requests import file_reverted, session_of
from sessions.views.review_source import asked_of, looked_entry, path_of
from teams.http import TeamRequest, team_view
from teams.models import Role


@require_POST
@team_view()
def revert(request: TeamRequest, session: str) -> HttpResponse:
    """Put a file back as the last commit has it, or lines of it; what was shown has to be what is
    there."""
    access = session_of(request, session, need=Role.MEMBER)
    given = request.POST
    asked, hunk = _uncommitted(given), hunk_of(given) if "hunk" in given else None
    entry = looked_entry(request, access.session, asked, given)
    if hunk and hunk not in {found for patch in entry.patches for found in ranges_of(patch)}:
        raise NotFound("Lines of the file", asked.file)
    revert_uncommitted(access, entry.path, old=entry.old, hunk=hunk, looked=entry.stamp)
    text = _("%(file)s goes back to the last commit.")
    if hunk:
        text = _("These lines of %(file)s go back to the last commit.")
    told = text % {"file": entry.path}
    return file_reverted(request, access.session, entry.path, told, to=_page(access.session, asked))


@require_POST
@team_view()
def stage(request: TeamRequest, session: str) -> HttpResponse:
    """Put lines of a file into git's index, or take them out of it."""
    access = session_of(request, session, need=Role.MEMBER)
    given = request.POST
    asked, hunk, staged = _uncommitted(given), hunk_of(given), given.get("stage") == "1"
    require_files_at_rest(access)
    ask_files(
        request,
        access.session,
        STAGE_HUNK,
        file=asked.file,
        old=path_of(given, "old"),
        hunk=list(astuple(hunk)),
        looked=given.get("looked", ""),
        stage=staged,
    )
    note_staged(access, asked.file, staged=staged)
    return _back(request, access.session, asked)


def hunk_of(given: QueryDict) -> HunkRange:
    """Raises: NotFound for what is no range of lines."""
    texts = given.get("hunk", "").split(",")
    if len(texts) != 4 or not all(text.isdecimal() and len(text) < 8 for text in texts):
        raise NotFound("Lines of the file")
    return HunkRange(*map(int, texts))


def _uncommitted(given: QueryDict) -> Asked:
    asked = asked_of(given)
    if asked.turn or asked.source is not Source.UNCOMMITTED:
        raise NotFound("Uncommitted file", asked.file)
    return asked


def _back(request: TeamRequest, session: Session, asked: Asked) -> HttpResponse:
    if request.htmx:
        return HttpResponse(status=204)
    return redirect(_page(session, asked))


def _page(session: Session, asked: Asked) -> str:
    return blank_changes(Place.of(session), asked, ReviewOptions()).address
