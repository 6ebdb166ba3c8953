"""The lines around the changes of a tool's call, which its card leaves out."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from opencode_web.lib.errors import NotFound
from sessions.browse.operations import TEXT_OF_SPAN
from sessions.changes.steps import changed_steps
from sessions.models import Part, Session
from sessions.present.changes.call_lines import (
    CallDiff,
    diffs_of,
    gap_place_of,
    said_part,
    whole_patch,
)
from sessions.present.changes.diff_gaps import build_opened, read_opened
from sessions.present.changes.file_diff import patch_diff
from sessions.present.place import Place
from sessions.views.files import ask_files
from sessions.views.requests import session_of
from teams.http import TeamRequest, team_view


@require_GET
@team_view()
@never_cache
def lines(request: TeamRequest, session: str, part: str) -> HttpResponse:
    """More lines of a card's diff, as the part of its table that stands for them.

    By itself it is a page with all lines of the file.
    """
    row = session_of(request, session).session
    place, given = Place.of(row), request.GET.get("file", "")
    tools = Part.objects.select_related("message").filter(session=row, type="tool")
    found = tools.filter(pk=part).first()
    diffs = diffs_of(found.data, place) if found else []
    if found is None or not given.isdecimal() or len(given) > 6 or int(given) >= len(diffs):
        raise NotFound("Lines of the file", part)
    number = int(given)
    patch, why = _whole_patch(request, row, found, number)
    path = diffs[number].path
    if not request.htmx:
        page = patch_diff(path, patch or diffs[number].patch, note=why)
        return render(request, "sessions/file_diff.html", {"diff": page})
    opened, gaps = read_opened(request.GET), gap_place_of(place, part, number)
    shown = build_opened([patch], opened, gaps, path=path) if patch else None
    context = {"part": shown or said_part(why, opened, gaps), "split": False, "opened": True}
    return render(request, "sessions/_diff_part.html", context)


def _whole_patch(
    request: TeamRequest, session: Session, part: Part, number: int
) -> tuple[str, str]:
    """Returns: the diff of the call with all lines of its file; or nothing, and why.

    Raises: what the host of the files says, but for what it has no more.
    """
    gone = _("The file is not stored as it was at this change, so its other lines cannot be shown.")
    seq = part.message.seq
    steps = changed_steps(session, from_seq=seq, before_seq=seq + 1, unchanged=True)
    if steps and "completed" not in part.message.data["time"]:
        return "", _("More lines can be shown when this step has ended.")
    if not steps or steps[0].after is None:
        return "", gone
    made, wanted = _diffs_of_step(session, part, number)
    # A file that is not there before the step is one that it has made.
    before = _text(request, session, steps[0].before, wanted.old) or ""
    after = _text(request, session, steps[0].after, wanted.path)
    found = None if after is None else whole_patch(wanted, made, before=before, after=after)
    return (found, "") if found else ("", gone)


def _diffs_of_step(session: Session, part: Part, number: int) -> tuple[list[CallDiff], CallDiff]:
    """Returns: what all calls of the part's step have changed, and which of that is meant."""
    place = Place.of(session)
    rows = Part.objects.filter(message=part.message_id, type="tool").order_by("seq", "id")
    diffs = {row.pk: diffs_of(row.data, place) for row in rows}
    return [diff for own in diffs.values() for diff in own], diffs[part.pk][number]


def _text(request: TeamRequest, session: Session, tree: str, file: str) -> str | None:
    try:
        return ask_files(
            request, session, TEXT_OF_SPAN, session_id=session.pk, tree=tree, file=file
        )
    except NotFound:
        return None
