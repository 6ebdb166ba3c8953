"""Unified diffs to rows of a table: line numbers, signs, highlighted code, changed words marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import groupby, zip_longest
from typing import Literal

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, ngettext
from pygments.lexer import Lexer

from opencode_web.lib.changed_words import MAX_WORDS, Spans, differing_words, pair_lines
from opencode_web.lib.highlight import Line, lexer_for_path, runs_to_html, split_runs
from opencode_web.lib.hunks import HUNK_HEAD, HunkRange

Kind = Literal["add", "del", "same", "skip"]

# More changed lines than this are only shown when somebody asks for them.
LARGE_LINES = 1_500
# Even then a page has an end.
MAX_ROWS = 20_000
# More of a line is only shown when somebody asks for it.
MAX_LINE_CHARS = 2_000
_MAX_LONG_LINE_CHARS = 200_000


@dataclass(frozen=True)
class Gap:
    """Lines that a diff leaves out: where they begin in both files, and how many they are.

    `count` is 0 at the end of a diff: nobody has said how many follow.
    """

    old: int
    new: int
    count: int


@dataclass(frozen=True)
class DiffLine:
    """A row of the table. `skip` rows have text in place of code and no numbers.

    `is_cut`: the line goes on. `hunk`: it is the first of that. `is_paired`: it is one line that
    was changed, and the other side has as many of those in the same order.
    """

    kind: Kind
    old: int | None
    new: int | None
    code: SafeString | str
    gap: Gap | None = None
    is_cut: bool = False
    hunk: HunkRange | None = None
    is_paired: bool = False


@dataclass(frozen=True)
class DiffView:
    """A rendered patch. Without lines but with a size it is large: show it on demand."""

    lines: list[DiffLine]
    size: int


@dataclass(frozen=True)
class _Raw:
    sign: str
    text: str
    # The last line of a file without a line end.
    is_open: bool = False
    is_cut: bool = False


@dataclass(frozen=True)
class _Hunk:
    range: HunkRange
    lines: list[_Raw]

    @property
    def old(self) -> int:
        return self.range.old

    @property
    def new(self) -> int:
        return self.range.new


def render_diff(
    patch: str,
    *,
    path: str = "",
    show_large: bool = False,
    spaces: bool = True,
    show_long: bool = False,
) -> DiffView:
    """Returns: the rows of all hunks, with the unmodified lines between them counted.

    Without `spaces`, lines that differ in nothing but those are the same. Lines of more than 2,000
    characters are cut unless `show_long`.
    """
    items = list(_parse(patch, _MAX_LONG_LINE_CHARS if show_long else MAX_LINE_CHARS))
    if not spaces:
        items = [_without_spaces(item) if isinstance(item, _Hunk) else item for item in items]
    size = sum(line.sign != " " for item in items if isinstance(item, _Hunk) for line in item.lines)
    if size > LARGE_LINES and not show_large:
        return DiffView([], size)
    lexer = lexer_for_path(path)
    lines: list[DiffLine] = []
    seen = 0
    for item in items:
        if isinstance(item, str):
            lines.append(DiffLine("skip", None, None, item))
            lexer, seen = lexer_for_path(item), 0
            continue
        # An empty side names the line before it.
        gap = item.old - 1 - seen if item.old else 0
        if gap > 0:
            text = unmodified_text(gap)
            new = item.new - gap if item.new else 1
            lines.append(DiffLine("skip", None, None, text, Gap(seen + 1, new, gap)))
        rows = list(_render_hunk(item, lexer))
        # Of a patch that was cut the last one can have none.
        lines += [replace(row, hunk=item.range) for row in rows[:1]] + rows[1:]
        seen = item.old - 1 + sum(line.sign != "+" for line in item.lines)
        if len(lines) > MAX_ROWS:
            rest = DiffLine("skip", None, None, gettext("The rest of this diff is not shown."))
            return DiffView([*lines[:MAX_ROWS], rest], size)
    return DiffView(lines, size)


@dataclass(frozen=True)
class PlainLine:
    """A line of a patch as it is in the files: without a number where a side lacks it."""

    old: int | None
    new: int | None
    text: str


def plain_lines(patch: str) -> Iterator[PlainLine]:
    """The lines of all hunks, as text."""
    for hunk in _parse(patch):
        if isinstance(hunk, str):
            continue
        old, new = hunk.old, hunk.new
        for line in hunk.lines:
            at_old, at_new = line.sign != "+", line.sign != "-"
            yield PlainLine(old if at_old else None, new if at_new else None, line.text)
            old, new = old + at_old, new + at_new


def unmodified_text(count: int) -> str:
    """What stands in the place of so many lines."""
    said = ngettext("%(count)s unmodified line", "%(count)s unmodified lines", count)
    return said % {"count": count}


def unmodified_rows(lines: Sequence[PlainLine], *, path: str = "") -> list[DiffLine]:
    """Returns: rows of lines that are the same on both sides."""
    code = split_runs(
        "\n".join(line.text.replace("\r", "") for line in lines), lexer_for_path(path)
    )
    return [
        DiffLine("same", line.old, line.new, runs_to_html(runs))
        for line, runs in zip(lines, code, strict=False)
    ]


def to_pairs(lines: Sequence[DiffLine]) -> list[tuple[DiffLine | None, DiffLine | None]]:
    """Returns: the same rows with both sides beside each other; of a `skip` only the first is."""
    pairs: list[tuple[DiffLine | None, DiffLine | None]] = []
    removed: list[DiffLine] = []
    added: list[DiffLine] = []
    for line in lines:
        if line.kind == "del" and not added:
            removed.append(line)
        elif line.kind == "add":
            added.append(line)
        else:
            pairs.extend(_beside(removed, added))
            removed, added = ([line], []) if line.kind == "del" else ([], [])
            if line.kind != "del":
                pairs.append((line, line if line.kind == "same" else None))
    return [*pairs, *_beside(removed, added)]


def _beside(
    removed: list[DiffLine], added: list[DiffLine]
) -> Iterator[tuple[DiffLine | None, DiffLine | None]]:
    """What was changed stands beside what it became, and the others between as they come."""
    old = new = 0
    sides = ([at for at, line in enumerate(side) if line.is_paired] for side in (removed, added))
    for before, after in zip(*sides, strict=False):
        yield from zip_longest(removed[old:before], added[new:after])
        yield removed[before], added[after]
        old, new = before + 1, after + 1
    yield from zip_longest(removed[old:], added[new:])


def _without_spaces(hunk: _Hunk) -> _Hunk:
    lines: list[_Raw] = []
    for is_context, own in groupby(hunk.lines, lambda line: line.sign == " "):
        run = list(own)
        lines += run if is_context else _matched(run)
    return _Hunk(hunk.range, lines)


def _matched(run: list[_Raw]) -> Iterator[_Raw]:
    olds = [line for line in run if line.sign == "-"]
    news = [line for line in run if line.sign == "+"]
    if not olds or not news or len(run) > MAX_WORDS * 4:
        yield from run
        return
    before, after = (["".join(line.text.split()) for line in side] for side in (olds, news))
    for tag, *ends in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        inside = news[ends[2] : ends[3]]
        if tag == "equal":
            yield from (_Raw(" ", line.text) for line in inside)
        else:
            yield from (*olds[ends[0] : ends[1]], *inside)


def _parse(patch: str, most: int = MAX_LINE_CHARS) -> Iterator[_Hunk | str]:
    """Hunks, and between them the names of further files."""
    hunk: _Hunk | None = None
    old_left = new_left = files = 0
    for text in patch.split("\n"):
        sign = text[:1] or " "
        if hunk is not None and (old_left > 0 or new_left > 0) and sign in "+- ":
            hunk.lines.append(_Raw(sign, text[1 : most + 1], is_cut=len(text) > most + 1))
            old_left -= sign != "+"
            new_left -= sign != "-"
        elif text.startswith("\\ ") and hunk is not None and hunk.lines:
            hunk.lines[-1] = replace(hunk.lines[-1], is_open=True)
        elif head := HUNK_HEAD.match(text):
            if hunk is not None:
                yield hunk
            hunk = _Hunk(HunkRange.of(head), [])
            old_left, new_left = hunk.range.old_count, hunk.range.new_count
        elif text.startswith("+++ "):
            if hunk is not None:
                yield hunk
                hunk = None
            files += 1
            if files > 1:
                yield text[4:].partition("\t")[0]
    if hunk is not None:
        yield hunk


def _render_hunk(hunk: _Hunk, lexer: Lexer | None) -> Iterator[DiffLine]:
    old_code = iter(_coloured(hunk, lexer, without="+"))
    new_code = iter(_coloured(hunk, lexer, without="-"))
    partners = _partners(hunk.lines)
    changed = set(partners.values())
    marks: dict[int, Spans] = {}
    for before, after in partners.items():
        if pair := differing_words(hunk.lines[before].text, hunk.lines[after].text):
            marks[before], marks[after] = pair
    # Where some lines end otherwise than others, the ends are what may have changed.
    is_mixed = len({line.text.endswith("\r") for line in hunk.lines}) > 1
    old, new = hunk.old, hunk.new
    for index, line in enumerate(hunk.lines):
        end = _end_of(line, is_mixed=is_mixed)
        if line.sign == "-":
            code = _mark(next(old_code), marks.get(index)) + end
            is_paired = index in partners
            yield DiffLine("del", old, None, code, is_cut=line.is_cut, is_paired=is_paired)
            old += 1
        elif line.sign == "+":
            code = _mark(next(new_code), marks.get(index)) + end
            is_paired = index in changed
            yield DiffLine("add", None, new, code, is_cut=line.is_cut, is_paired=is_paired)
            new += 1
        else:
            next(old_code)
            code = runs_to_html(next(new_code)) + end
            yield DiffLine("same", old, new, code, is_cut=line.is_cut)
            old, new = old + 1, new + 1


def _end_of(line: _Raw, *, is_mixed: bool) -> SafeString:
    """What nobody would see otherwise."""
    said = ["…"] if line.is_cut else []
    said += [gettext("CR")] if is_mixed and line.text.endswith("\r") else []
    said += [gettext("no newline at end of file")] if line.is_open else []
    return (
        format_html(' <span class="diff-end">{}</span>', ", ".join(said)) if said else SafeString()
    )


def _coloured(hunk: _Hunk, lexer: Lexer | None, *, without: str) -> list[Line]:
    lines = [line.text.replace("\r", "") for line in hunk.lines if line.sign != without]
    return split_runs("\n".join(lines), lexer) if lines else []


def _partners(lines: list[_Raw]) -> dict[int, int]:
    """Returns: for each removed line that became another one, where that is."""
    found: dict[int, int] = {}
    index = 0
    while index < len(lines):
        start = index
        while index < len(lines) and lines[index].sign == "-":
            index += 1
        middle = index
        while index < len(lines) and lines[index].sign == "+":
            index += 1
        texts = [line.text for line in lines[start:index]]
        pairs = pair_lines(texts[: middle - start], texts[middle - start :])
        found |= {start + old: middle + new for old, new in pairs}
        index = max(index, start + 1)
    return found


def _mark(line: Line, spans: Spans | None) -> SafeString:
    html, at = "", 0
    for start, end in spans or ():
        if start < end:
            marked = runs_to_html(_cut(line, start, end))
            html += f"{runs_to_html(_cut(line, at, start))}<mark>{marked}</mark>"
            at = end
    html += runs_to_html(_cut(line, at, 1 << 30) if at else line)
    return mark_safe(html)  # noqa: S308 - put together from escaped runs


def _cut(line: Line, low: int, high: int) -> Line:
    part: Line = []
    at = 0
    for name, text in line:
        piece = text[max(low - at, 0) : max(high - at, 0)]
        if piece:
            part.append((name, piece))
        at += len(text)
    return part
