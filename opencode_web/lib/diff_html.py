"""Unified diffs to rows of a table: line numbers, signs, highlighted code, changed words marked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from django.utils.safestring import SafeString, mark_safe
from pygments.lexer import Lexer

from opencode_web.lib.highlight import Line, lexer_for_path, runs_to_html, split_runs

Kind = Literal["add", "del", "same", "skip"]

# More changed lines than this are only shown when somebody asks for them.
LARGE_LINES = 1_500
# Even then a page has an end.
MAX_ROWS = 20_000
_MAX_LINE_CHARS = 2_000
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
# Lines that share less than this say more without marked words.
_SIMILAR = 0.5


@dataclass(frozen=True)
class DiffLine:
    """A row of the table. `skip` rows have text in place of code and no numbers."""

    kind: Kind
    old: int | None
    new: int | None
    code: SafeString | str


@dataclass(frozen=True)
class DiffView:
    """A rendered patch. Without lines but with a size it is large: show it on demand."""

    lines: list[DiffLine]
    size: int


@dataclass(frozen=True)
class _Raw:
    sign: str
    text: str


@dataclass(frozen=True)
class _Hunk:
    old: int
    new: int
    lines: list[_Raw]


def render_diff(patch: str, *, path: str = "", show_large: bool = False) -> DiffView:
    """Returns: the rows of all hunks, with the unmodified lines between them counted."""
    items = list(_parse(patch))
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
            text = f"{gap} unmodified line{'' if gap == 1 else 's'}"
            lines.append(DiffLine("skip", None, None, text))
        lines.extend(_render_hunk(item, lexer))
        seen = item.old - 1 + sum(line.sign != "+" for line in item.lines)
        if len(lines) > MAX_ROWS:
            rest = DiffLine("skip", None, None, "The rest of this diff is not shown.")
            return DiffView([*lines[:MAX_ROWS], rest], size)
    return DiffView(lines, size)


def _parse(patch: str) -> Iterator[_Hunk | str]:
    """Hunks, and between them the names of further files."""
    hunk: _Hunk | None = None
    old_left = new_left = files = 0
    for text in patch.split("\n"):
        sign = text[:1] or " "
        if hunk is not None and (old_left > 0 or new_left > 0) and sign in "+- ":
            hunk.lines.append(_Raw(sign, text[1 : _MAX_LINE_CHARS + 1]))
            old_left -= sign != "+"
            new_left -= sign != "-"
        elif head := _HUNK.match(text):
            if hunk is not None:
                yield hunk
            hunk = _Hunk(int(head[1]), int(head[3]), [])
            old_left, new_left = int(head[2] or 1), int(head[4] or 1)
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
    marks = _changed_words(hunk.lines)
    old, new = hunk.old, hunk.new
    for index, line in enumerate(hunk.lines):
        if line.sign == "-":
            yield DiffLine("del", old, None, _mark(next(old_code), marks.get(index)))
            old += 1
        elif line.sign == "+":
            yield DiffLine("add", None, new, _mark(next(new_code), marks.get(index)))
            new += 1
        else:
            next(old_code)
            yield DiffLine("same", old, new, runs_to_html(next(new_code)))
            old, new = old + 1, new + 1


def _coloured(hunk: _Hunk, lexer: Lexer | None, *, without: str) -> list[Line]:
    lines = [line.text.replace("\r", "") for line in hunk.lines if line.sign != without]
    return split_runs("\n".join(lines), lexer) if lines else []


def _changed_words(lines: list[_Raw]) -> dict[int, tuple[int, int]]:
    """For each replaced line the range of characters that differs from its partner."""
    marks: dict[int, tuple[int, int]] = {}
    index = 0
    while index < len(lines):
        start = index
        while index < len(lines) and lines[index].sign == "-":
            index += 1
        removed = index - start
        while index < len(lines) and lines[index].sign == "+":
            index += 1
        added = index - start - removed
        for offset in range(min(removed, added)):
            before, after = start + offset, start + removed + offset
            pair = _differing(lines[before].text, lines[after].text)
            if pair:
                marks[before], marks[after] = pair
        index = max(index, start + 1)
    return marks


def _differing(old: str, new: str) -> tuple[tuple[int, int], tuple[int, int]] | None:
    if SequenceMatcher(None, old, new).quick_ratio() < _SIMILAR:
        return None
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return (head, len(old) - tail), (head, len(new) - tail)


def _mark(line: Line, span: tuple[int, int] | None) -> SafeString:
    if span is None or span[0] >= span[1]:
        return runs_to_html(line)
    before, inside, after = _cut(line, *span)
    html = f"{runs_to_html(before)}<mark>{runs_to_html(inside)}</mark>{runs_to_html(after)}"
    return mark_safe(html)  # noqa: S308 - put together from escaped runs


def _cut(line: Line, start: int, end: int) -> tuple[Line, Line, Line]:
    parts: tuple[Line, Line, Line] = ([], [], [])
    at = 0
    for name, text in line:
        for part, low, high in zip(parts, (0, start, end), (start, end, 1 << 30), strict=True):
            piece = text[max(low - at, 0) : max(high - at, 0)]
            if piece:
                part.append((name, piece))
        at += len(text)
    return parts
