"""The files of one patch: what its row opens to, and what its permission card shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from django.utils.translation import gettext as _

from opencode_web.lib.diff_html import DiffLine, render_diff
from opencode_web.lib.json import JsonObject, list_of, number_of, text_of
from sessions.present.changes.call_lines import parts_of_call
from sessions.present.changes.diff_gaps import GapPlace, Part
from sessions.present.place import Place

_NAMED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class PatchedFile:
    """One of the files. `id` is its place in the patch, `note` what happens but for its lines."""

    id: int
    name: str
    note: str
    added: int
    removed: int
    lines: list[DiffLine]
    # The same file in the changes of the session.
    changes_url: str = ""
    # The lines as a card shows them.
    parts: list[Part] = field(default_factory=list)


@dataclass(frozen=True)
class PatchBody:
    """`more`: lines left out."""

    files: list[PatchedFile]
    more: int
    url: str
    problems: list[str]


def names_in(patch: str) -> list[str]:
    """List the files that a patch names, before it is known what becomes of them."""
    return list(dict.fromkeys(name.strip() for name in _NAMED.findall(patch)))


def patched_files(metadata: JsonObject, place: Place, *, show_large: bool) -> list[PatchedFile]:
    """List the files of a patch with all of their lines; none where it is no patch."""
    files = [one for one in list_of(metadata, "files") if isinstance(one, dict)]
    return [_patched(number, one, place, show_large) for number, one in enumerate(files)]


def patch_body(
    files: list[PatchedFile],
    *,
    gaps: Sequence[GapPlace],
    most: int,
    url: str,
    problems: list[str],
) -> PatchBody | None:
    """Show `most` lines, of the files in their order; `gaps` has the place of each.

    Returns: None where there are no files.
    """
    if not files:
        return None
    left, shown = most, []
    for file, place in zip(files, gaps, strict=True):
        lines = file.lines[:left]
        parts = parts_of_call(lines, place, is_cut=len(lines) < len(file.lines))
        shown.append(replace(file, lines=lines, parts=parts))
        left -= len(lines)
    # Of a large file no line has been rendered.
    total = sum(len(file.lines) or file.added + file.removed for file in files)
    return PatchBody(shown, total - (most - left), url, problems)


def patch_lines(files: list[PatchedFile]) -> list[DiffLine]:
    """Put all files into one table, each below its name."""
    lines: list[DiffLine] = []
    for file in files:
        # What happens comes first: on a phone the end of a long name has to be scrolled to.
        said = f"{file.note}: {file.name}" if file.note else file.name
        lines.append(DiffLine("skip", None, None, said))
        lines += file.lines
        if not file.lines and file.added + file.removed:
            count = file.added + file.removed
            lines.append(
                DiffLine(
                    "skip",
                    None,
                    None,
                    _("%(count)s changed lines, too many to show") % {"count": count},
                )
            )
    return lines


def _patched(number: int, file: JsonObject, place: Place, show_large: bool) -> PatchedFile:
    name = text_of(file, "relativePath") or place.short(text_of(file, "filePath"))
    notes = {
        "add": _("new file"),
        "delete": _("deleted"),
        "move": _("moved from %(file)s") % {"file": place.short(text_of(file, "filePath"))},
    }
    return PatchedFile(
        id=number,
        name=name,
        note=notes.get(text_of(file, "type"), ""),
        added=number_of(file, "additions") or 0,
        removed=number_of(file, "deletions") or 0,
        lines=render_diff(text_of(file, "patch"), path=name, show_large=show_large).lines,
    )
