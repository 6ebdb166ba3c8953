"""The panel with the changed files: a tree, and a page of files whose diffs come when needed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from sessions.actions.reviews import viewed_digest
from sessions.changes.turn_diffs import reverted_paths
from sessions.models import ReviewComment, Session
from sessions.present.changes.commit import ReviewCommit
from sessions.present.changes.entries import (
    Asked,
    ChangeEntry,
    Found,
    Source,
    entries_of_log,
    matching,
    turns_after,
)
from sessions.present.changes.file_diff import (
    FileDiff,
    build_diff,
    draw,
    file_id,
    file_names,
    gap_place,
    hunk_place,
    is_split,
    long_lines_url,
)
from sessions.present.changes.generated import is_generated
from sessions.present.changes.revert import Revert, Undo, build_revert, build_undos, without
from sessions.present.changes.review_comments import Comments, build_comments, place_comments
from sessions.present.changes.review_options import ReviewOptions
from sessions.present.changes.spans import has_more, is_combined
from sessions.present.changes.tree import OPEN_FILES, TreeLinks, TreeRows, build_rows
from sessions.present.place import Place

PAGE_FILES = 50
# The diffs of these are on the page at once, as far as the log has them.
_DRAWN_FILES = 8
_DRAWN_ROWS = 400


@dataclass(frozen=True)
class Person:
    """Who looks at it: what they have viewed, as `viewed_digest` makes it, and want to say."""

    viewed: frozenset[str] = frozenset()
    comments: Sequence[ReviewComment] = ()

    def has_viewed(self, entry: ChangeEntry) -> bool:
        return bool(entry.digest) and viewed_digest(entry.path, entry.digest) in self.viewed


@dataclass(frozen=True)
class ChangedFile:
    """`diff` where it is drawn at once; else it comes from `src`, when it is come to.

    `stamp` is another when something else is to be drawn; `looked` tells what there is to view.
    """

    id: str
    entry: ChangeEntry
    name: str
    folder: str
    height: str
    names: dict[str, str]
    src: str
    looked: str
    stamp: str = ""
    revert: Revert | None = None
    undo: Undo | None = None
    # All of it, and not only lines: nothing more of it can go back.
    is_reverted: bool = False
    viewed: bool = False
    # What links to the name that a renamed file had lead to.
    old_id: str = ""
    # Written by a program: folded until somebody wants it.
    is_generated: bool = False
    open_url: str = ""
    diff: FileDiff | None = None

    @classmethod
    def of(cls, entry: ChangeEntry, place: Place, asked: Asked) -> ChangedFile:
        folder, slash, name = entry.path.rpartition("/")
        names, size = file_names(entry, asked), entry.added + entry.removed
        return cls(
            id=file_id(entry.path),
            entry=entry,
            name=name,
            folder=folder + slash,
            height="tall" if size > 20 else "middle" if size > 5 else "low",
            names=names,
            src=f"{place.url('file')}?{urlencode(names)}",
            looked=entry.stamp,
            is_generated=is_generated(entry.path),
            open_url=(
                ""
                if entry.status == "deleted"
                else f"{place.url('session')}?{urlencode({'panel': 'files', 'file': entry.path})}"
            ),
        )


@dataclass(frozen=True)
class Stretch:
    """Which files are shown, from 1 on, and where the others are."""

    first: int
    last: int
    total: int
    before_url: str
    after_url: str


@dataclass(frozen=True)
class Changes:
    """Of one source. `error` in place of everything else; `empty` says why nothing is there.

    `count`: files that are listed; `left`: those that were not put back, with their lines.
    """

    asked: Asked
    address: str
    base_url: str
    sources: list[tuple[str, str]]
    options: ReviewOptions
    look_url: str
    count: int = 0
    left: int = 0
    added: int = 0
    removed: int = 0
    viewed: int = 0
    viewed_url: str = ""
    comments: Comments | None = None
    commit: ReviewCommit | None = None
    files: list[ChangedFile] = field(default_factory=list)
    tree: TreeRows = field(default_factory=TreeRows)
    stretch: Stretch | None = None
    # Where the edits of people are, beside those of the agent.
    uncommitted_url: str = ""
    empty: str = ""
    error: str = ""
    notes: list[str] = field(default_factory=list)
    # Of files that were put back and are not shown.
    undos: list[Undo] = field(default_factory=list)


def blank_changes(
    place: Place, asked: Asked, options: ReviewOptions, *, error: str = ""
) -> Changes:
    """The pane without its files."""
    base = place.url("session")
    more = {"filter": asked.filter} if asked.filter else {}
    more |= {"from": str(asked.start)} if asked.start else {}
    return Changes(
        asked=asked,
        address=_address(base, asked, **more),
        base_url=base,
        sources=[(str(source.value), str(source.label)) for source in Source],
        options=options,
        look_url=place.url("review_look"),
        viewed_url=place.url("review_viewed"),
        error=error,
    )


def build_changes(
    session: Session, found: Found, asked: Asked, options: ReviewOptions, person: Person
) -> Changes:
    place = Place.of(session)
    blank = blank_changes(place, asked, options)
    shown = matching(found.entries, asked.filter) if asked.filter else found.entries
    start = _start(shown, asked)
    page = shown[start : start + PAGE_FILES]
    reverted = reverted_paths(session)
    # What the log tells of is listed with a way to undo it; Git no longer tells of it.
    left = [entry for entry in found.entries if not (entry.turn and entry.path in reverted)]
    return Changes(
        **{
            **vars(blank),
            "count": len(found.entries) + found.rest.files,
            "left": len(left) + found.rest.files,
            "added": sum(entry.added for entry in left) + found.rest.additions,
            "removed": sum(entry.removed for entry in left) + found.rest.deletions,
            "files": _files(session, page, asked, options, person),
            "viewed": sum(map(person.has_viewed, found.entries)),
            "comments": build_comments(session, person.comments),
            "tree": build_tree(shown, place, asked),
            "stretch": _stretch(shown, start, blank.base_url, asked),
            "empty": _empty(found, asked),
            "uncommitted_url": (
                ""
                if asked.turn or asked.source is not Source.SESSION
                else _address(blank.base_url, Asked(source=Source.UNCOMMITTED))
            ),
            "notes": [*found.notes, *_left_out(found)],
            "undos": without(build_undos(session, place), page),
        }
    )


def load_log(session: Session, asked: Asked) -> Found:
    """What the log knows about the source or turn."""
    if asked.turn or asked.source is not Source.TURN:
        return entries_of_log(session, turn=asked.turn, whole=asked.source is Source.SESSION)
    found = entries_of_log(session)
    if not found.entries or not (ago := turns_after(session, found.entries[0].turn)):
        return found
    said = ngettext(
        "From %(count)s turn ago. No newer turn has changed files.",
        "From %(count)s turns ago. No newer turn has changed files.",
        ago,
    )
    return replace(found, notes=[said % {"count": ago}, *found.notes])


def build_tree(
    entries: Sequence[ChangeEntry], place: Place, asked: Asked, *, folder: str = ""
) -> TreeRows:
    """The rows of a folder, or of everything."""
    base, rows = place.url("session"), place.url("review_folder")
    links = TreeLinks(
        file=lambda path: (
            f"{_address(base, asked, **_filter(asked), file=path)}#file-{file_id(path)}"
        ),
        folder=lambda path: _address(base, asked, filter=path),
        rows=lambda path: f"{rows}?{urlencode({**asked.names, **_filter(asked), 'folder': path})}",
    )
    inside = [entry for entry in entries if entry.path.startswith(folder)]
    return build_rows(inside, links, at=folder, is_open=len(inside) <= OPEN_FILES)


def _filter(asked: Asked) -> dict[str, str]:
    return {"filter": asked.filter} if asked.filter else {}


def _address(base: str, asked: Asked, **more: str) -> str:
    return f"{base}?{urlencode({'panel': 'changes', **asked.names, **more})}"


def _start(entries: Sequence[ChangeEntry], asked: Asked) -> int:
    if asked.file:
        named = ((entry.path, entry.old) for entry in entries)
        places = (place for place, one in enumerate(named) if asked.file in one)
        start = next(places, 0)
    else:
        start = min(asked.start, max(0, len(entries) - 1))
    return start - start % PAGE_FILES


def _stretch(entries: Sequence[ChangeEntry], start: int, base: str, asked: Asked) -> Stretch | None:
    total = len(entries)
    if total <= PAGE_FILES:
        return None
    before, after = start - PAGE_FILES, start + PAGE_FILES
    filtered = _filter(asked)
    return Stretch(
        first=start + 1,
        last=min(after, total),
        total=total,
        before_url=_address(base, asked, **filtered, **{"from": str(before)}) if start else "",
        after_url=(
            _address(base, asked, **filtered, **{"from": str(after)}) if after < total else ""
        ),
    )


def _files(
    session: Session,
    page: Sequence[ChangeEntry],
    asked: Asked,
    options: ReviewOptions,
    person: Person,
) -> list[ChangedFile]:
    place, files, room = Place.of(session), [], _DRAWN_ROWS
    is_known = has_more(session, asked)
    undos = {undo.path: undo for undo in build_undos(session, place)}
    reverted, names = reverted_paths(session), {entry.path for entry in page}
    for index, entry in enumerate(page):
        file, split = ChangedFile.of(entry, place, asked), is_split(entry, options)
        is_drawn = (
            index < _DRAWN_FILES
            and room > 0
            and not (split or file.is_generated or is_combined(entry))
        )
        own = [comment for comment in person.comments if comment.path == entry.path]
        placed = place_comments(own, entry.patches, place, source=asked.label)
        # Whether lines have changed or are only not in this diff shows when it comes.
        is_drawn = is_drawn and not any(comment.is_outdated for comment in placed)
        lines = draw(entry, spaces=options.spaces) if is_drawn else []
        room -= len(lines)
        if lines:
            gaps = gap_place(entry, place, asked, split=False) if is_known else None
            long = long_lines_url(entry, place, asked)
            hunks = hunk_place(entry, place, asked, spaces=options.spaces)
            diff = build_diff(
                entry, lines, placed, split=False, gaps=gaps, long_url=long, hunks=hunks
            )
            file = replace(file, diff=diff)
        file = replace(
            file,
            revert=build_revert(entry, place, asked),
            undo=undos.get(entry.path),
            is_reverted=entry.path in reverted and not asked.git_mode,
            viewed=person.has_viewed(entry),
            old_id=file_id(entry.old) if entry.old and entry.old not in names else "",
            # What is drawn follows the person's taste and comments, too.
            stamp=f"{entry.stamp}{'s' * split}{'w' * (not options.spaces)}{_written(own)}",
        )
        files.append(file)
    return files


def _written(comments: Sequence[ReviewComment]) -> str:
    known = "\0".join(f"{comment.pk}.{comment.body}" for comment in comments)
    return f".{hashlib.sha256(known.encode()).hexdigest()[:8]}" if comments else ""


def _left_out(found: Found) -> list[str]:
    if not found.rest.files:
        return []
    return [_("%(count)s more changed files are not listed.") % {"count": found.rest.files}]


def _empty(found: Found, asked: Asked) -> str:
    if found.entries:
        return _("No changed file matches “%(text)s”.") % {"text": asked.filter}
    texts = {
        "no-git": _("This folder is not a Git repository, so there is nothing to compare with."),
        "no-commit": _("There is no commit yet."),
        "main": _("This is the main branch. Changes on other branches appear here."),
        Source.UNCOMMITTED: _("No uncommitted changes: the files match the last commit."),
        Source.COMMIT: _("The last commit changes no files."),
        Source.BRANCH: _("This branch has no changes yet."),
        Source.TURN: _("No files changed in this session yet."),
    }
    nothing = _("No files changed yet. The agent's edits appear here when its turn ends.")
    return texts.get(found.state) or texts.get(asked.source, nothing)
