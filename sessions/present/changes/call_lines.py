"""The diffs of a tool's call, and the lines around them that they leave out. Pure.

Those come from the file as snapshots have it before and after the call's step: it may have gone on
since, and then today's file would tell something else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opencode_web.lib.diff_html import (
    MAX_LINE_CHARS,
    DiffLine,
    PlainLine,
    plain_lines,
)
from opencode_web.lib.json import JsonObject, list_of, object_of, text_of
from sessions.events.stored import StoredTool
from sessions.present.changes.diff_gaps import GapPlace, Opened, Part, parts_of
from sessions.present.changes.review_comments import Row, rows_of
from sessions.present.place import Place
from tools.files.diff import CONTEXT_LINES

_PATCHES = frozenset({"patch", "apply_patch"})


@dataclass(frozen=True)
class CallDiff:
    """What a call has changed in one file. Names are from the session's folder; `old` before it."""

    path: str
    old: str
    patch: str


def diffs_of(part: StoredTool, place: Place) -> list[CallDiff]:
    """Returns: one for each file of a tool's part, in the order of its card."""
    metadata = part["state"].get("metadata", {})
    if part["tool"] in _PATCHES:
        files = (one for one in list_of(metadata, "files") if isinstance(one, dict))
        return [_of_patch(file, place) for file in files]
    diff = object_of(metadata, "filediff")
    path = place.short(text_of(diff, "file"))
    return [CallDiff(path, path, text_of(diff, "patch"))] if diff else []


def _of_patch(file: JsonObject, place: Place) -> CallDiff:
    old = place.short(text_of(file, "filePath"))
    return CallDiff(text_of(file, "relativePath") or old, old, text_of(file, "patch"))


def gap_place_of(place: Place, part_id: str, number: int = 0) -> GapPlace:
    """Where more lines of the file with this number among a call's are to be had."""
    url = place.url("call_lines", part=part_id)
    page = f"{url}?file={number}"
    return GapPlace(f"{part_id}-{number}", {"file": str(number)}, url, page, split=False)


def parts_of_call(lines: Sequence[DiffLine], gaps: GapPlace, *, is_cut: bool) -> list[Part]:
    """`is_cut`: more of the diff itself follows."""
    rows = rows_of(lines, [], split=False)
    return parts_of(rows, gaps, context=0 if is_cut else CONTEXT_LINES)


def said_part(text: str, opened: Opened, gaps: GapPlace) -> Part:
    """What stands in place of lines that are not to be had."""
    return gaps.part(opened, [Row(DiffLine("skip", None, None, text))])


def whole_patch(
    wanted: CallDiff, made: Sequence[CallDiff], *, before: str, after: str
) -> str | None:
    """The diff of a call with all lines of its file.

    `made` are all diffs of the step in their order; `before` and `after` are the file around it.

    Returns: None where something else has changed the file in between: then nobody knows which of
    its lines were there at this call.
    """
    names, found = {wanted.old, wanted.path}, None
    text = _split(before)
    for diff in made:
        if not names & {diff.old, diff.path}:
            continue
        lines = _filled(diff.patch, text)
        if lines is None:
            return None
        found = lines if diff is wanted else found
        text = [line.text for line in lines if line.new is not None]
    return _to_patch(found) if found is not None and text == _split(after) else None


def _split(text: str) -> list[str]:
    lines = text.removesuffix("\n").split("\n") if text else []
    return [line[:MAX_LINE_CHARS] for line in lines]


def _filled(patch: str, text: Sequence[str]) -> list[PlainLine] | None:
    """The lines of a patch and all around them. Returns: None when it is not made of this text."""
    found, old, new = list[PlainLine](), 1, 1

    def unchanged(count: int) -> list[PlainLine]:
        return [PlainLine(old + n, new + n, text[old + n - 1]) for n in range(count)]

    for line in plain_lines(patch):
        ahead = line.old - old if line.old is not None else (line.new or new) - new
        if ahead < 0 or old + ahead - 1 > len(text):
            return None
        found += unchanged(ahead)
        old, new = old + ahead, new + ahead
        if line.old is not None and (old > len(text) or text[old - 1] != line.text):
            return None
        found.append(line)
        old, new = old + (line.old is not None), new + (line.new is not None)
    return found + unchanged(len(text) + 1 - old)


def _to_patch(lines: Sequence[PlainLine]) -> str:
    old = sum(line.old is not None for line in lines)
    new = sum(line.new is not None for line in lines)
    signs = ("+" if line.old is None else "-" if line.new is None else " " for line in lines)
    body = [f"{sign}{line.text}" for sign, line in zip(signs, lines, strict=True)]
    return "\n".join([f"@@ -1,{old} +1,{new} @@", *body])
