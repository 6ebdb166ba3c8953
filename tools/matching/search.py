from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate

from tools.matching.text import SPACE
from tools.matching.work import PER_BLOCK, Work


class LineSearch:
    """Finds runs of lines in a list of lines, none of which has a line end in it."""

    def __init__(self, lines: Sequence[str], work: Work) -> None:
        self._work = work
        self._text = "\n" + "\n".join(lines) + "\n"
        # Where the line end before each line is, and the one after the last.
        self._starts = list(accumulate((len(line) + 1 for line in lines), initial=0))

    def find(self, wanted: Sequence[str], start: int = 0) -> int | None:
        """Returns: the number of the first line, from `start` on, of the first equal run."""
        if start >= len(self._starts) - 1 or not wanted:
            return None
        needle = "\n" + "\n".join(wanted) + "\n"
        begin = self._starts[start]
        at = self._text.find(needle, begin)
        end = len(self._text) if at < 0 else at
        self._work.spend(end - begin + 2 * len(needle))
        return None if at < 0 else bisect_left(self._starts, at)

    def find_all(self, wanted: Sequence[str]) -> Iterator[int]:
        """Yield the first line of every run, also of those that overlap."""
        found = self.find(wanted)
        while found is not None:
            yield found
            found = self.find(wanted, found + 1)


class Search:
    """One text that is sought in one file. `old` has the line ends of the file."""

    def __init__(self, content: str, old: str, work: Work) -> None:
        self.content = content
        self.old = old
        self.work = work

    @cached_property
    def wanted(self) -> list[str]:
        """The lines of `old` without their ends; the last is empty after a final line end."""
        return self.old.replace("\r\n", "\n").split("\n")

    @cached_property
    def wanted_trimmed(self) -> list[str]:
        """The lines of `old`, trimmed, without the empty one after a final line end."""
        trimmed = [line.strip(SPACE) for line in self.wanted]
        return trimmed if self.wanted[-1] else trimmed[:-1]

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the file without their ends."""
        lines = self.content.split("\n")
        ended = [line.removesuffix("\r") for line in lines[:-1]]
        return [*ended, lines[-1]]

    @cached_property
    def trimmed(self) -> list[str]:
        return [line.strip(SPACE) for line in self.lines]

    @cached_property
    def starts(self) -> list[int]:
        """Where each line begins."""
        raw = self.content.split("\n")
        return list(accumulate((len(line) + 1 for line in raw[:-1]), initial=0))

    def block(self, first: int, count: int) -> str:
        """The text of some lines, without the end of the last."""
        last = first + count - 1
        text = self.content[self.starts[first] : self.starts[last] + len(self.lines[last])]
        self.work.spend(len(text) + PER_BLOCK)
        return text
