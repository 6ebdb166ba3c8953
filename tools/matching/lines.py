from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from tools.matching.search import PER_LINE, SPACE, WORD, LineSearch, Search, with_line_ends

_ESCAPE = re.compile(r"\\([ntr'\"`\\\n$])")
_MEANING = {"n": "\n", "t": "\t", "r": "\r"}


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


def match_escapes(search: Search) -> Iterator[str]:
    """Yield the wanted text with its escapes resolved, then runs of lines that resolve to it."""
    wanted = _resolve("\n".join(search.wanted))
    in_file = with_line_ends(wanted, of=search.content)
    if in_file in search.content:
        yield in_file
    if "\\" not in search.content:
        return
    first_line, count = wanted.split("\n", 1)[0], wanted.count("\n") + 1
    for first in range(len(search.lines) - count + 1):
        # Most places are decided by their first line, whose end may be escaped.
        search.work.spend(PER_LINE)
        if _resolve(search.lines[first]).removesuffix("\\") != first_line.removesuffix("\\"):
            continue
        block = search.block(first, count)
        search.work.spend(200 * len(block))
        if _resolve(block.replace("\r\n", "\n")) == wanted:
            yield block


def _resolve(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda match: _MEANING.get(match[1], match[1]), text)
