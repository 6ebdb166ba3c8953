"""The changes pane: its list, the diff of one file, and how its person likes to see it."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from opencode_web.lib.diff_html import LARGE_LINES
from opencode_web.lib.errors import AppError, NotFound
from sessions.actions.publish import workplace_of
from sessions.models import Session
from sessions.present.changes.commit import build_commit
from sessions.present.changes.diff_gaps import build_opened, read_opened
from sessions.present.changes.entries import Asked, matching
from sessions.present.changes.file_diff import (
    FileDiff,
    binary_diff,
    build_diff,
    draw,
    gap_place,
    hunk_place,
    is_split,
    large_diff,
    long_lines_url,
    wider_url,
)
from sessions.present.changes.review import (
    Changes,
    Person,
    blank_changes,
    build_changes,
    build_tree,
)
from sessions.present.changes.review_comments import build_comments, load_comments, place_comments
from sessions.present.changes.review_options import TASTE, ReviewOptions
from sessions.present.changes.spans import has_more
from sessions.present.place import Place
from sessions.views.files import bytes_of
from sessions.views.requests import session_of
from sessions.views.review_source import (
    asked_of,
    context_of,
    entry_of,
    found_of,
    path_of,
    picture_of,
    whole_entry,
)
from teams.actions.tastes import remember_taste
from teams.http import TeamRequest, team_view


def load_review(
    request: TeamRequest,
    session: Session,
    given: QueryDict | None = None,
    *,
    was_asked: bool = False,
) -> Changes:
    """The whole pane, as the address or a form says. What cannot be read is a sentence.

    `was_asked`: for a commit, which a worker makes.
    """
    asked, options = asked_of(given or request.GET), ReviewOptions.of(request.user.preferences)
    viewed = session.viewed_files.filter(user=request.user).values_list("digest", flat=True)
    person = Person(frozenset(viewed), load_comments(session, request.user))
    try:
        found = found_of(request, session, asked)
    except AppError as exc:
        gone = _("The files of this session no longer exist. Its changes are still recorded.")
        error = gone if isinstance(exc, NotFound) else exc.message
        blank = blank_changes(Place.of(session), asked, options, error=error)
        return replace(blank, comments=build_comments(session, person.comments))
    changes = build_changes(session, found, asked, options, person)
    was_asked = was_asked or "committed" in request.GET
    row = workplace_of(session) if asked.git_mode else None
    is_open = "commit" in request.GET
    commit = build_commit(session, row, found, asked, was_asked=was_asked, is_open=is_open)
    return replace(changes, commit=commit)


@require_GET
@team_view()
@never_cache
def file(request: TeamRequest, session: str) -> HttpResponse:
    """The diff of one changed file; with `all` however large it is."""
    row = session_of(request, session).session
    asked, options = asked_of(request.GET), ReviewOptions.of(request.user.preferences)
    # Two columns of code need room, which the browser knows of.
    split = options.split and request.GET.get("narrow") != "1"
    diff = _diff(request, row, asked, replace(options, split=split))
    template = "sessions/_file_diff.html" if request.htmx else "sessions/file_diff.html"
    return render(request, template, {"diff": diff})


@require_GET
@team_view()
@never_cache
def lines(request: TeamRequest, session: str) -> HttpResponse:
    """Lines that a diff leaves out, as the part of its table that stands for them."""
    row, given = session_of(request, session).session, request.GET
    asked, old = asked_of(given), path_of(given, "old")
    opened = read_opened(given)
    options = ReviewOptions.of(request.user.preferences)
    entry = whole_entry(request, row, asked, old=old, spaces=options.spaces)
    place = gap_place(entry, Place.of(row), asked, split=given.get("view") == "split")
    if place is None:
        raise NotFound("Lines of the file", asked.file)
    if not request.htmx:
        return redirect(place.page_url)
    part = build_opened(entry.patches, opened, place, path=entry.path)
    context = {"part": part, "split": place.split, "opened": True}
    return render(request, "sessions/_diff_part.html", context)


@require_GET
@team_view()
@never_cache
def folder(request: TeamRequest, session: str) -> HttpResponse:
    """The rows of a folder of the tree that was closed."""
    row = session_of(request, session).session
    asked, path = asked_of(request.GET), path_of(request.GET, "folder")
    if not request.htmx:
        return redirect(
            blank_changes(Place.of(row), replace(asked, filter=path), ReviewOptions()).address
        )
    entries = matching(found_of(request, row, asked).entries, asked.filter)
    rows = build_tree(entries, Place.of(row), asked, folder=path)
    return render(request, "sessions/_change_rows.html", {"rows": rows, "id": "folder"})


@require_GET
@team_view()
@never_cache
def picture(request: TeamRequest, session: str) -> HttpResponse:
    """A picture as it was before it was changed; of what the log tells, also as it was after."""
    row = session_of(request, session).session
    asked = asked_of(request.GET)
    wire = picture_of(request, row, asked, after=request.GET.get("side") == "after")
    return bytes_of(wire, content_type=wire["mime"])


@require_POST
@team_view()
def look(request: TeamRequest, session: str) -> HttpResponse:
    """Keep how the person likes to see diffs, and show the pane that way."""
    row = session_of(request, session).session
    kept = ReviewOptions.of(request.user.preferences)
    chosen = kept.chosen(request.POST)
    if chosen != kept:
        request.user = remember_taste(request.user, key=TASTE, value=chosen.to_taste())
    changes = load_review(request, row, request.POST)
    if not request.htmx:
        return redirect(changes.address)
    return render(request, "sessions/_changes.html", {"changes": changes})


def _diff(request: TeamRequest, session: Session, asked: Asked, options: ReviewOptions) -> FileDiff:
    """Raises: as `entry_of`."""
    place, show_all = Place.of(session), request.GET.get("all") == "1"
    context = context_of(request.GET)
    old = path_of(request.GET, "old")
    entry = entry_of(request, session, asked, old=old, spaces=options.spaces, context=context)
    if entry.binary:
        return binary_diff(entry, place, asked)
    split = is_split(entry, options)
    if entry.added + entry.removed > LARGE_LINES and not show_all:
        return large_diff(entry, place, asked)
    long = request.GET.get("long") == "1"
    lines = draw(entry, spaces=options.spaces, show_large=True, show_long=long)
    is_known = has_more(session, asked)
    gaps = gap_place(entry, place, asked, split=split) if is_known else None
    own = [one for one in load_comments(session, request.user) if one.path == entry.path]
    # A comment can be about lines that are only shown with more around the changes.
    whole = whole_entry(request, session, asked, old=old) if own else entry
    comments = place_comments(own, whole.patches, place, source=asked.label)
    diff = build_diff(
        entry,
        lines,
        comments,
        split=split,
        gaps=gaps,
        context=context,
        long_url=long_lines_url(entry, place, asked),
        hunks=hunk_place(entry, place, asked, context=context, spaces=options.spaces),
    )
    wider = wider_url(entry, place, asked, context=context, show_all=show_all)
    return replace(diff, wider_url=wider if gaps else "")
