"""Which removed line became which added one, and the words that differ between the two."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

Spans = list[tuple[int, int]]

# Words of a line that are compared one by one; of a longer one the ends.
MAX_WORDS = 160
# Larger blocks are paired in order: 40 removed lines and 40 added ones.
_MAX_COMPARISONS = 1_600
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
# Lines that share less than this say more without marked words.
_SIMILAR = 0.5


def pair_lines(olds: Sequence[str], news: Sequence[str]) -> list[tuple[int, int]]:
    """Returns: indexes of the lines of both sides that are most alike; no two pairs cross."""
    if len(olds) == len(news) == 1 or len(olds) * len(news) > _MAX_COMPARISONS:
        return [(index, index) for index in range(min(len(olds), len(news)))]
    added = [_words(line) for line in news]
    alike = [[_likeness(old, new) for new in added] for old in map(_words, olds)]
    # best[i][j]: the most that lines from i and from j on can have in common.
    best = [[0.0] * (len(news) + 1) for _ in range(len(olds) + 1)]
    for i in reversed(range(len(olds))):
        for j in reversed(range(len(news))):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], best[i + 1][j + 1] + alike[i][j])
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(olds) and j < len(news):
        if alike[i][j] and best[i][j] == best[i + 1][j + 1] + alike[i][j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def differing_words(old: str, new: str) -> tuple[Spans, Spans] | None:
    """Returns: the ranges of characters that differ; None for lines with little in common."""
    if SequenceMatcher(None, old, new).quick_ratio() < _SIMILAR:
        return None
    olds, news = _WORD.findall(old), _WORD.findall(new)
    if max(len(olds), len(news)) > MAX_WORDS:
        return _different_middle(old, new)
    spans: tuple[Spans, Spans] = ([], [])
    at = [0, 0]
    for tag, *ends in SequenceMatcher(None, olds, news, autojunk=False).get_opcodes():
        for side, words in ((0, olds[ends[0] : ends[1]]), (1, news[ends[2] : ends[3]])):
            width = sum(map(len, words))
            if tag != "equal" and width:
                spans[side].append((at[side], at[side] + width))
            at[side] += width
    return spans


def _words(line: str) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(line)[:MAX_WORDS] if not word.isspace())


def _likeness(old: frozenset[str], new: frozenset[str]) -> float:
    """Returns: 0 to 1, squared, so that one line that is the same outweighs two that resemble."""
    whole = _width(old) + _width(new)
    return (2 * _width(old & new) / whole) ** 2 if whole else 0.0


def _width(words: frozenset[str]) -> int:
    return sum(map(len, words))


def _different_middle(old: str, new: str) -> tuple[Spans, Spans]:
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return [(head, len(old) - tail)], [(head, len(new) - tail)]
