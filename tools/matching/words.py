from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from tools.matching.search import Search
from tools.matching.text import WORD
from tools.matching.work import PER_LINE


def match_words(search: Search) -> Iterator[str]:
    """Yield what has the wanted words, whatever whitespace is between them.

    First places within a line, then runs of as many lines as are wanted.
    """
    wanted = " ".join(WORD.findall(search.old))
    normal = [" ".join(WORD.findall(line)) for line in search.lines]
    search.work.spend(PER_LINE * len(normal) + 20 * len(search.content))
    if wanted not in " ".join(line for line in normal if line):
        return
    for line, words in zip(search.lines, normal, strict=True):
        if wanted in words:
            search.work.spend(PER_LINE + 200 * len(line))
            yield line if wanted == words else _original(line, words.index(wanted), wanted)
    if len(search.wanted) > 1:
        yield from _runs(search, normal, wanted)


def _original(line: str, start: int, wanted: str) -> str:
    """The part of a line that is `wanted`, from `start` on, once whitespace is made one blank."""
    spans = [match.span() for match in WORD.finditer(line)]
    # Where each word begins after normalising.
    begins, at = [], 0
    for first, end in spans:
        begins.append(at)
        at += end - first + 1

    def position(index: int) -> int:
        word = bisect_right(begins, index) - 1
        return spans[word][0] + index - begins[word]

    # Both ends are within words: `wanted` neither begins nor ends with a blank.
    return line[position(start) : position(start + len(wanted) - 1) + 1]


def _runs(search: Search, normal: list[str], wanted: str) -> Iterator[str]:
    count = len(search.wanted)
    length = sum(len(line) + 1 for line in normal[:count] if line)
    for first in range(len(normal) - count + 1):
        search.work.spend(PER_LINE)
        # Joined by single blanks, of which the last is one too many.
        if length - 1 == len(wanted):
            search.work.spend(len(wanted) + 50 * count)
            if " ".join(line for line in normal[first : first + count] if line) == wanted:
                yield search.block(first, count)
        leaving = normal[first]
        entering = normal[first + count] if first + count < len(normal) else ""
        length += (len(entering) + 1 if entering else 0) - (len(leaving) + 1 if leaving else 0)
