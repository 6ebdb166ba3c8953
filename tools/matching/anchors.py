from __future__ import annotations

import importlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from tools.matching.search import PER_LINE, Search, Work

# Fewer lines have nothing between their anchors. A final line end counts as one.
_MIN_LINES = 3
_SIMILARITY = 0.65
# How much longer or shorter a block may be than the wanted text, of its lines; one line always.
_LENGTH_TOLERANCE = 0.25
_EQUAL_LINES = 0.5


def match_block_anchors(search: Search) -> Iterator[str]:
    """Yield the block between the wanted first and last line that is most like the wanted text."""
    wanted = search.wanted_trimmed
    if len(search.wanted) < _MIN_LINES:
        return
    tolerance = max(1, int(_LENGTH_TOLERANCE * len(wanted)))
    best, best_likeness = None, 0.0
    for first, last in _anchored(search.trimmed, wanted[0], wanted[-1]):
        search.work.spend(PER_LINE)
        count = last - first + 1
        if abs(count - len(wanted)) > tolerance:
            continue
        likeness = _likeness(search.trimmed[first : last + 1], wanted, search.work)
        if likeness > best_likeness:
            best, best_likeness = (first, count), likeness
    if best is not None and best_likeness >= _SIMILARITY:
        yield search.block(*best)


def match_context(search: Search) -> Iterator[str]:
    """Yield blocks of the wanted length with its first and last line and half of those between."""
    wanted = search.wanted_trimmed
    if len(search.wanted) < _MIN_LINES:
        return
    count = len(wanted)
    for first in range(len(search.lines) - count + 1):
        if search.trimmed[first] != wanted[0] or search.trimmed[first + count - 1] != wanted[-1]:
            continue
        search.work.spend(PER_LINE * count)
        pairs = list(zip(search.trimmed[first + 1 : first + count - 1], wanted[1:-1], strict=True))
        filled = [a == b for a, b in pairs if a or b]
        if sum(filled) >= _EQUAL_LINES * len(filled):
            yield search.block(first, count)


def _anchored(lines: list[str], first: str, last: str) -> Iterator[tuple[int, int]]:
    """Yield each line that is `first` with the nearest `last`, at least two lines below it."""
    ends = [number for number, line in enumerate(lines) if line == last]
    for number, line in enumerate(lines):
        if line == first:
            place = bisect_left(ends, number + 2)
            if place < len(ends):
                yield number, ends[place]


def _likeness(block: Sequence[str], wanted: Sequence[str], work: Work) -> float:
    """Returns: 0 to 1, the mean over the pairs of inner lines; a pair of blank ones counts as 0."""
    inner = list(zip(block[1:-1], wanted[1:-1], strict=False))
    if not inner:
        return 1.0
    # Loaded here, because most edits name a text that is there, and it is 2 % of a start.
    distance = importlib.import_module("rapidfuzz.distance").Levenshtein.distance
    total = 0.0
    for found, sought in inner:
        longer = max(len(found), len(sought))
        # The library compares 64 characters at a time.
        work.spend(PER_LINE + longer + len(found) * len(sought) // 16)
        if longer:
            total += 1 - distance(found, sought) / longer
    return total / len(inner)
