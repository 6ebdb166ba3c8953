from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from tools.matching.search import LineSearch, Search
from tools.matching.text import SPACE
from tools.matching.work import PER_LINE


def match_trimmed_lines(search: Search) -> Iterator[str]:
    """Yield every run of lines that equals the wanted ones after trimming each line."""
    wanted = search.wanted_trimmed
    for first in LineSearch(search.trimmed, search.work).find_all(wanted):
        yield search.block(first, len(wanted))


def match_indentation(search: Search) -> Iterator[str]:
    """Yield every run of lines that equals the wanted ones with both moved to the left edge."""
    wanted = search.wanted
    # Lines without any indentation find the places, whose relative indentation is then compared.
    keys = LineSearch([_flush(line) for line in search.lines], search.work)
    at_edge = _dedent(wanted)
    for first in keys.find_all([_flush(line) for line in wanted]):
        search.work.spend(PER_LINE * len(wanted))
        if _dedent(search.lines[first : first + len(wanted)]) == at_edge:
            yield search.block(first, len(wanted))


def match_trimmed_ends(search: Search) -> Iterator[str]:
    """Yield the wanted text without blanks at its ends, then runs of as many lines around it."""
    inner = search.old.strip(SPACE)
    if inner == search.old or inner not in search.content:
        return
    yield inner
    count = len(search.wanted)
    first_text, last_text = _nearest_text(search)
    for first in range(len(search.lines) - count + 1):
        start, end = first_text[first], last_text[first + count - 1]
        search.work.spend(PER_LINE)
        if end - start == len(inner) and search.content.startswith(inner, start):
            search.work.spend(len(inner))
            yield search.block(first, count)


def _nearest_text(search: Search) -> tuple[list[int], list[int]]:
    """For each line: where text begins in it or below, and where text ends in it or above."""
    size = len(search.content)
    begins = [
        start + len(line) - len(line.lstrip(SPACE)) if text else size
        for start, line, text in zip(search.starts, search.lines, search.trimmed, strict=True)
    ]
    ends = [
        start + len(line.rstrip(SPACE)) if text else 0
        for start, line, text in zip(search.starts, search.lines, search.trimmed, strict=True)
    ]
    return list(accumulate(reversed(begins), min))[::-1], list(accumulate(ends, max))


def _flush(line: str) -> str:
    # A blank line counts as it stands.
    return line.lstrip(SPACE) or line


def _dedent(lines: list[str]) -> list[str]:
    flush = [line.lstrip(SPACE) for line in lines]
    indents = [len(line) - len(text) for line, text in zip(lines, flush, strict=True) if text]
    indent = min(indents, default=0)
    return [line[indent:] if text else line for line, text in zip(lines, flush, strict=True)]
