"""The parts of a table of a diff: lines that are left out can be had, some or all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.translation import gettext as _

from opencode_web.lib.diff_html import (
    DiffLine,
    Gap,
    PlainLine,
    plain_lines,
    unmodified_rows,
    unmodified_text,
)
from opencode_web.lib.errors import Conflict, NotFound
from sessions.present.changes.review_comments import GapLinks, Row

# So many lines more come at once.
STEP = 20


@dataclass(frozen=True)
class Part:
    """Rows that are swapped together."""

    id: str
    rows: list[Row]

    @property
    def is_gap(self) -> bool:
        return any(row.links is not None for row in self.rows)

    @property
    def lines(self) -> list[DiffLine]:
        """Those of one column."""
        return [row.line for row in self.rows if row.line is not None]


@dataclass(frozen=True)
class Opened:
    """Lines that a diff leaves out, and how many of them are shown at either end."""

    gap: Gap
    top: int = 0
    bottom: int = 0


@dataclass(frozen=True)
class GapPlace:
    """Where the lines of a file come from; `names` are those of the file in an address.

    `url` is empty where nobody may have more than there is.
    """

    id: str
    names: dict[str, str]
    url: str
    page_url: str
    split: bool

    def part(self, opened: Opened, rows: Sequence[Row]) -> Part:
        return Part(f"gap-{self.id}-{opened.gap.new}", list(rows))

    def links(self, opened: Opened, *, left: int | None) -> GapLinks:
        """`left`: how many are still left out; None when nobody has counted."""
        gap, step = opened.gap, left is None or left > STEP
        text = _("More lines below")
        if left is not None:
            text = unmodified_text(left)
        everything = opened.bottom + (opened.top + STEP if left is None else opened.top + left)
        at_start, at_end = gap.new == 1 or gap.old == 1, left is None
        down = replace(opened, top=opened.top + STEP)
        up = replace(opened, bottom=opened.bottom + STEP)
        return GapLinks(
            text,
            self._address(replace(opened, top=everything)),
            self.page_url,
            self._address(down) if step and not at_start else "",
            self._address(up) if step and not at_end else "",
        )

    def _address(self, opened: Opened) -> str:
        gap = opened.gap
        numbers = {"from_old": gap.old, "from_new": gap.new, "count": gap.count}
        shown = {"top": opened.top, "bottom": opened.bottom}
        view = {"view": "split"} if self.split else {}
        return f"{self.url}?{urlencode({**self.names, **numbers, **shown, **view})}"


def read_opened(given: QueryDict) -> Opened:
    """Raises: NotFound for what are no numbers of lines."""
    names = ("from_old", "from_new", "count", "top", "bottom")
    texts = [given.get(name, "") for name in names]
    if not all(text.isdecimal() and len(text) < 8 for text in texts):
        raise NotFound("Lines")
    old, new, count, top, bottom = map(int, texts)
    return Opened(Gap(old, new, count), top, bottom)


def parts_of(rows: Sequence[Row], place: GapPlace | None, *, context: int) -> list[Part]:
    """`context`: so many lines are around a change; 0 where the rows are not all there are.

    Returns: the rows in parts; without a place nothing more is to be had.
    """
    parts, own = [], list[Row]()
    has_more = place is not None and bool(place.url)
    for row in rows:
        gap = row.gap
        if place is None or not has_more or gap is None:
            own.append(row)
            continue
        parts += [Part(f"rows-{place.id}-{gap.new}", own)] if own else []
        opened = Opened(gap)
        parts.append(place.part(opened, [_links_row(place, opened, left=gap.count)]))
        own = []
    end = _end_of(rows, context=context) if has_more and context else None
    parts += [Part(f"rows-{place.id if place else ''}-end", own)] if own else []
    if place and end:
        parts.append(place.part(Opened(end), [_links_row(place, Opened(end), left=None)]))
    return parts


def _links_row(place: GapPlace, opened: Opened, *, left: int | None) -> Row:
    return Row(None, links=place.links(opened, left=left))


def _end_of(rows: Sequence[Row], *, context: int) -> Gap | None:
    """What follows the last change. With fewer lines around it than wanted, the file has ended."""
    last = [row.line or row.new for row in rows[-context:]]
    if len(last) < context or any(line is None or line.kind != "same" for line in last):
        return None
    line = last[-1]
    if line is None or line.old is None or line.new is None:
        return None
    return Gap(line.old + 1, line.new + 1, 0)


def build_opened(patches: Sequence[str], opened: Opened, place: GapPlace, *, path: str) -> Part:
    """The part of a gap with the lines that are wanted. `patches` leave nothing out.

    Raises: Conflict when other lines are there now.
    """
    found = list(_between(patches, opened.gap))
    total, gap = len(found), opened.gap
    if (gap.count and total != gap.count) or (found and found[0].old != gap.old):
        raise Conflict(_("The file has changed since you looked at it."))
    top, bottom = min(opened.top, total), min(opened.bottom, max(0, total - opened.top))
    left = total - top - bottom
    rows = _rows(found[:top], path, split=place.split)
    if left:
        # Of what is at the end it is not said before how much it is.
        rows.append(_links_row(place, opened, left=left if gap.count else None))
    rows += _rows(found[total - bottom :], path, split=place.split)
    return place.part(opened, rows)


def _between(patches: Sequence[str], gap: Gap) -> Iterator[PlainLine]:
    wanted = gap.new
    for patch in patches:
        for line in plain_lines(patch):
            if line.old is None or line.new != wanted:
                continue
            if gap.count and wanted >= gap.new + gap.count:
                return
            yield line
            wanted += 1


def _rows(lines: Sequence[PlainLine], path: str, *, split: bool) -> list[Row]:
    shown: list[DiffLine] = unmodified_rows(lines, path=path) if lines else []
    return [Row(None, line, line) if split else Row(line) for line in shown]
