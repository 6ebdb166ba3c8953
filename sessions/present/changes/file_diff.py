"""The diff of one file, as it comes into the panel when somebody comes to it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from opencode_web.lib.diff_html import LARGE_LINES, DiffLine, render_diff
from sessions.present.changes.diff_gaps import GapPlace, Part, parts_of
from sessions.present.changes.entries import Asked, ChangeEntry, Source
from sessions.present.changes.hunks import HunkPlace
from sessions.present.changes.review_comments import Comment, rows_of, with_heads
from sessions.present.changes.review_options import ReviewOptions
from sessions.present.changes.spans import is_combined
from sessions.present.place import Place

# What browsers draw without running anything in it. A drawing in SVG is text.
IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
# So many unmodified lines are around a change, one after the other as more are wanted.
CONTEXTS = (3, 25, 1_000)
# Nothing of a file is left out.
WHOLE = 1_000_000
_MODES = re.compile(r"^old mode (\d+)\nnew mode (\d+)$", re.MULTILINE)
_KIND = re.compile(
    r"^(?:new file mode|deleted file mode|new mode|index \S+) (\d{6})$", re.MULTILINE
)
_LINK, _REPOSITORY = "120000", "160000"


@dataclass(frozen=True)
class FileDiff:
    """`parts` of a table; else pictures, or a `note`. `all_url`: of a large one. `above` are
    comments on lines that are not shown.

    `wider_url` is the same with more lines around the changes, where git has them; `long_url`
    with lines of any length.
    """

    id: str
    path: str
    parts: list[Part] = field(default_factory=list)
    split: bool = False
    above: list[Comment] = field(default_factory=list)
    note: str = ""
    size: int = 0
    all_url: str = ""
    wider_url: str = ""
    long_url: str = ""
    before_url: str = ""
    after_url: str = ""

    @property
    def size_text(self) -> str:
        return number_format(self.size, force_grouping=True)

    @property
    def has_pictures(self) -> bool:
        return bool(self.before_url or self.after_url)


def file_id(path: str) -> str:
    """What the elements of a file are named after."""
    return hashlib.sha256(path.encode("utf-8", "replace")).hexdigest()[:12]


def file_names(entry: ChangeEntry, asked: Asked) -> dict[str, str]:
    """A file of a source as the names and values of an address."""
    return {**asked.names, "file": entry.path, **({"old": entry.old} if entry.old else {})}


def is_split(entry: ChangeEntry, options: ReviewOptions) -> bool:
    """Whether both sides are shown beside each other: a file that is new or gone has one."""
    return options.split and entry.status not in ("added", "deleted")


def draw(
    entry: ChangeEntry, *, spaces: bool, show_large: bool = False, show_long: bool = False
) -> list[DiffLine]:
    """The rows of a file's patches one after the other; none when they are large."""
    if entry.added + entry.removed > LARGE_LINES and not show_large:
        return []
    views = [
        render_diff(patch, path=entry.path, show_large=True, spaces=spaces, show_long=show_long)
        for patch in entry.patches
    ]
    return [line for view in views for line in view.lines]


def build_diff(
    entry: ChangeEntry,
    lines: Sequence[DiffLine],
    comments: Sequence[Comment],
    *,
    split: bool,
    gaps: GapPlace | None = None,
    context: int = CONTEXTS[0],
    long_url: str = "",
    hunks: HunkPlace,
) -> FileDiff:
    """A diff of text; `lines` as `render_diff` makes them."""
    rows = with_heads(rows_of(lines, comments, split=split), hunks)
    shown = {comment.id for row in rows for comment in row.comments}
    return FileDiff(
        file_id(entry.path),
        entry.path,
        parts=parts_of(rows, gaps, context=context),
        split=split,
        above=[comment for comment in comments if comment.id not in shown],
        note=_note_of(entry, has_lines=bool(lines)),
        long_url=long_url,
    )


def patch_diff(path: str, patch: str, *, note: str) -> FileDiff:
    """A patch by itself, with nothing to be had around it."""
    lines = render_diff(patch, path=path, show_large=True).lines
    parts = parts_of(rows_of(lines, [], split=False), None, context=0)
    return FileDiff(file_id(path), path, parts=parts, note=note)


def gap_place(entry: ChangeEntry, place: Place, asked: Asked, *, split: bool) -> GapPlace | None:
    """Returns: None where nothing is left out, or where several diffs follow each other."""
    if entry.status not in ("modified", "renamed") or is_combined(entry):
        return None
    names = file_names(entry, asked)
    page = f"{place.url('file')}?{urlencode({**names, 'context': str(CONTEXTS[-1])})}"
    return GapPlace(file_id(entry.path), names, place.url("file_lines"), page, split)


def hunk_place(
    entry: ChangeEntry, place: Place, asked: Asked, *, context: int = CONTEXTS[0], spaces: bool
) -> HunkPlace:
    """Without `spaces`, changes of nothing else are not shown."""
    file, names = file_id(entry.path), file_names(entry, asked)
    if asked.turn or asked.source is not Source.UNCOMMITTED:
        return HunkPlace(file, names)
    shown = {"looked": entry.stamp, "context": str(context), "spaces": str(int(spaces))}
    return HunkPlace(
        file,
        {**names, **shown},
        stage_url=place.url("review_stage"),
        revert_url=place.url("review_revert"),
        has_hidden=not spaces,
        staged=entry.staged,
        unstaged=entry.unstaged,
    )


def wider_url(
    entry: ChangeEntry, place: Place, asked: Asked, *, context: int, show_all: bool
) -> str:
    """Empty where nothing more is to be had."""
    wider = next((one for one in CONTEXTS if one > context), None)
    if wider is None or gap_place(entry, place, asked, split=False) is None:
        return ""
    names = {
        **file_names(entry, asked),
        "context": str(wider),
        **({"all": "1"} if show_all else {}),
    }
    return f"{place.url('file')}?{urlencode(names)}"


def long_lines_url(entry: ChangeEntry, place: Place, asked: Asked) -> str:
    return f"{place.url('file')}?{urlencode({**file_names(entry, asked), 'all': '1', 'long': '1'})}"


def large_diff(entry: ChangeEntry, place: Place, asked: Asked) -> FileDiff:
    names = file_names(entry, asked)
    return FileDiff(
        file_id(entry.path),
        entry.path,
        size=entry.added + entry.removed,
        all_url=f"{place.url('file')}?{urlencode({**names, 'all': '1'})}",
    )


def binary_diff(entry: ChangeEntry, place: Place, asked: Asked) -> FileDiff:
    """Before and after for a picture; else that there is nothing to read."""
    name = entry.path.rpartition("/")[2].lower()
    is_picture = f"image/{name.rpartition('.')[2].replace('jpg', 'jpeg')}" in IMAGE_TYPES
    if not is_picture:
        return FileDiff(file_id(entry.path), entry.path, note=_("Binary file, not shown."))
    kept = place.url("review_picture")
    before = f"{kept}?{urlencode({**asked.names, 'file': entry.old or entry.path})}"
    after = f"{place.url('file_raw')}?{urlencode({'file': entry.path, 'stamp': entry.stamp})}"
    if asked.turn or asked.source.is_kept:
        after = f"{kept}?{urlencode({**asked.names, 'file': entry.path, 'side': 'after'})}"
    return FileDiff(
        file_id(entry.path),
        entry.path,
        before_url="" if entry.status == "added" else before,
        after_url="" if entry.status == "deleted" else after,
    )


def _note_of(entry: ChangeEntry, *, has_lines: bool) -> str:
    """Returns: sentences, none for a plain change of lines."""
    heads = "".join(f"{patch.partition(_HUNK)[0]}\n" for patch in entry.patches)
    said = [_rights(heads), _kind(heads)]
    if not has_lines:
        said.append(_without_lines(entry, is_told=any(said)))
    return " ".join(filter(None, said))


_HUNK = "\n@@ "


def _rights(heads: str) -> str:
    found = _MODES.search(heads)
    before, after = (int(mode, 8) & 0o111 for mode in found.groups()) if found else (0, 0)
    if bool(before) == bool(after):
        return ""
    if after:
        return _("The file is now executable.")
    return _("The file is no longer executable.")


def _kind(heads: str) -> str:
    kinds = set(_KIND.findall(heads))
    if _LINK in kinds:
        return _("This is a symbolic link. The line shows its target.")
    if _REPOSITORY in kinds:
        return _("This is a nested repository. The line shows its commit.")
    return ""


def _without_lines(entry: ChangeEntry, *, is_told: bool) -> str:
    if entry.large:
        return _("The file is too large to show.")
    if entry.status == "added":
        return _("The file is empty.")
    if entry.status == "renamed":
        return _("Only the name has changed.")
    return "" if is_told else _("No lines changed.")
