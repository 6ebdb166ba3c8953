"""The hunks of unified diffs as ranges of lines, and patches of some of them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

HUNK_HEAD = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_HUNKS = re.compile(r"^(?=@@ )", re.MULTILINE)
# A patch of some lines leaves the rights of the file as they are.
_MODES = re.compile(r"^(?:old|new) mode \d+\n", re.MULTILINE)


@dataclass(frozen=True)
class HunkRange:
    """Where the lines of a hunk begin on both sides, and how many they are, as its head has it.

    A side without lines names the line before it.
    """

    old: int
    old_count: int
    new: int
    new_count: int

    @classmethod
    def of(cls, head: re.Match[str]) -> HunkRange:
        """`head` is a match of `HUNK_HEAD`."""
        return cls(int(head[1]), int(head[2] or 1), int(head[3]), int(head[4] or 1))

    @property
    def old_span(self) -> tuple[int, int]:
        """Where it begins and ends in a list of lines."""
        return _span(self.old, self.old_count)

    @property
    def new_span(self) -> tuple[int, int]:
        return _span(self.new, self.new_count)


def _span(start: int, count: int) -> tuple[int, int]:
    first = start - 1 if count else start
    return first, first + count


def overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two spans share a line, or one of them is a place between lines that touches the
    other."""
    first, end = max(one[0], other[0]), min(one[1], other[1])
    is_place = one[0] == one[1] or other[0] == other[1]
    return first <= end if is_place else first < end


def ranges_of(patch: str) -> list[HunkRange]:
    """The ranges of all hunks of a patch of one file."""
    return [found for found, _ in _hunks(patch)]


def patch_of_hunks(patch: str, wanted: Callable[[HunkRange], bool], *, reverse: bool) -> str:
    """Returns: a patch of one file with these hunks only; empty where none is wanted.

    It is counted anew, so that git looks for no line where it is not: from the old side on, or with
    `reverse`, for a patch that is taken back, from the new one.
    """
    head, shift, kept = _HUNKS.split(patch, maxsplit=1)[0], 0, list[str]()
    for found, body in _hunks(patch):
        if not wanted(found):
            continue
        old, new = found.old_span[0], found.new_span[0]
        old, new = (new - shift, new) if reverse else (old, old + shift)
        shift += found.new_count - found.old_count
        old, new = old + bool(found.old_count), new + bool(found.new_count)
        kept.append(f"@@ -{old},{found.old_count} +{new},{found.new_count} @@\n{body}")
    return f"{_MODES.sub('', head)}{''.join(kept)}" if kept else ""


def _hunks(patch: str) -> Iterator[tuple[HunkRange, str]]:
    for text in _HUNKS.split(patch)[1:]:
        if head := HUNK_HEAD.match(text):
            yield HunkRange.of(head), text.partition("\n")[2]
