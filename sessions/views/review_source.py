"""What the changes pane is about: from an address or a form to changed files."""

from __future__ import annotations

from dataclasses import replace

from django.http import QueryDict
from django.utils.translation import gettext as _

from opencode_web.lib.errors import AppError, Conflict, NotFound
from sessions.browse.operations import (
    COUNT_SPAN,
    DIFF_FILE,
    DIFF_SPAN,
    LIST_REVIEW,
    OLD_PICTURE,
    PICTURE_OF_SPAN,
)
from sessions.browse.review import Picture
from sessions.models import Session
from sessions.present.changes.entries import (
    Asked,
    ChangeEntry,
    Found,
    Source,
    entries_of_git,
    entry_of_git,
)
from sessions.present.changes.file_diff import CONTEXTS, WHOLE
from sessions.present.changes.review import load_log
from sessions.present.changes.spans import is_combined, is_whole, span_of, with_counts, with_span
from sessions.views.files import ask_files
from teams.http import TeamRequest

_MAX_PATH_CHARS = 4_000
# Of the files that somebody has marked: of further ones the marks are not shown.
_MAX_HASHED = 2_000


def asked_of(given: QueryDict) -> Asked:
    """Returns: the whole session for whatever is no source.

    The form of a turn sends both when somebody chooses another source there, which then counts.
    """
    source, start = given.get("source", ""), given.get("from", "")
    chosen = source in Source.values
    return Asked(
        source=Source(source) if chosen else Source.SESSION,
        turn="" if chosen else given.get("turn", "")[:60],
        filter=given.get("filter", "").strip()[:200],
        start=int(start) if start.isdecimal() and len(start) < 6 else 0,
        file=path_of(given, "file"),
    )


def path_of(given: QueryDict, name: str) -> str:
    """Raises: NotFound for what is no path."""
    path = given.get(name, "")
    if len(path) > _MAX_PATH_CHARS or "\0" in path:
        raise NotFound("File", path[:100])
    return path


def context_of(given: QueryDict) -> int:
    """How many unmodified lines are around the changes."""
    wanted = given.get("context", "")
    return next((one for one in CONTEXTS if str(one) == wanted), CONTEXTS[0])


def found_of(request: TeamRequest, session: Session, asked: Asked) -> Found:
    """All changed files of a source. Raises: what the host of the files says."""
    if not asked.git_mode:
        return _counted(request, session, asked, load_log(session, asked))
    marked = session.viewed_files.filter(user=request.user).values_list("path", flat=True)
    hashed = list(marked.distinct()[:_MAX_HASHED])
    wire = ask_files(request, session, LIST_REVIEW, mode=asked.git_mode, hashed=hashed)
    return entries_of_git(wire)


def entry_of(
    request: TeamRequest,
    session: Session,
    asked: Asked,
    *,
    old: str,
    spaces: bool = True,
    context: int = CONTEXTS[0],
) -> ChangeEntry:
    """One changed file with its patches and its digest.

    Raises: NotFound for a file that has not changed; what the host of the files says.
    """
    if not asked.git_mode:
        found = load_log(session, asked).entries
        entry = next((one for one in found if one.path == asked.file), None)
        if entry is None:
            raise NotFound("Changed file", asked.file)
        is_kept = context <= CONTEXTS[0] and is_whole(entry)
        if is_kept:
            return entry
        return _spanned(request, session, asked, entry, spaces=spaces, context=context)
    wire = ask_files(
        request,
        session,
        DIFF_FILE,
        mode=asked.git_mode,
        file=asked.file,
        old=old,
        spaces=spaces,
        context=context,
    )
    return entry_of_git(asked.file, wire)


def looked_entry(
    request: TeamRequest, session: Session, asked: Asked, given: QueryDict
) -> ChangeEntry:
    """As `entry_of`. Raises: also Conflict when the form was about another state of the file."""
    old, context = path_of(given, "old"), context_of(given)
    spaces = given.get("spaces") != "0"
    entry = entry_of(request, session, asked, old=old, spaces=spaces, context=context)
    if entry.stamp != given.get("looked", ""):
        raise Conflict(_("The file has changed since you looked at it."))
    return entry


def whole_entry(
    request: TeamRequest, session: Session, asked: Asked, *, old: str, spaces: bool = True
) -> ChangeEntry:
    """As `entry_of`, with all lines of the file as far as they are to be had."""
    return entry_of(request, session, asked, old=old, spaces=spaces, context=WHOLE)


def picture_of(request: TeamRequest, session: Session, asked: Asked, *, after: bool) -> Picture:
    """A picture before or after the changes of a source. Raises: NotFound; Forbidden."""
    if asked.git_mode:
        mode = asked.git_mode
        return ask_files(request, session, OLD_PICTURE, mode=mode, file=asked.file, after=after)
    span = span_of(session, asked)
    if span is None:
        raise NotFound("Picture", asked.file)
    tree = span.after if after else span.before
    return ask_files(
        request, session, PICTURE_OF_SPAN, session_id=session.pk, tree=tree, file=asked.file
    )


def _counted(request: TeamRequest, session: Session, asked: Asked, found: Found) -> Found:
    """Edits of one file in several turns, counted as one change."""
    several = [entry for entry in found.entries if is_combined(entry)]
    span = span_of(session, asked) if several else None
    if span is None:
        return found
    try:
        counts = ask_files(
            request,
            session,
            COUNT_SPAN,
            session_id=session.pk,
            before=span.before,
            after=span.after,
            files=[entry.path for entry in several],
            old=[entry.old for entry in several if entry.status == "renamed"],
        )
    except AppError:
        # Snapshots are not kept for ever, and their host can be away: the log knows each edit.
        return found
    return replace(found, entries=with_counts(found.entries, counts))


def _spanned(
    request: TeamRequest,
    session: Session,
    asked: Asked,
    entry: ChangeEntry,
    *,
    spaces: bool,
    context: int,
) -> ChangeEntry:
    span = span_of(session, asked)
    if span is None:
        return entry
    try:
        wire = ask_files(
            request,
            session,
            DIFF_SPAN,
            session_id=session.pk,
            before=span.before,
            after=span.after,
            file=entry.path,
            old=entry.old,
            spaces=spaces,
            context=context,
        )
    except AppError:
        return entry  # as above
    return with_span(entry, wire)
