from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate

# What JavaScript's trim() removes: the models were trained against that program.
SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
WORD = re.compile(f"[^{SPACE}]+")
# One unit is about a nanosecond of one core: comparing a character or two.
BUDGET = 300_000_000
# What looking at one line in Python costs beside its characters.
PER_LINE = 400
# Of cutting out a candidate and looking where it stands.
PER_BLOCK = 2_000


class EditMatchError(ValueError):
    """The text cannot be found or replaced; the message tells the model why."""


class TooMuchWork(EditMatchError):
    """The budget is used up before anything was decided."""


class Work:
    """How much more may be compared. Counted, not timed: the same call always ends the same."""

    def __init__(self, budget: int = BUDGET) -> None:
        self._left = budget

    def spend(self, units: int) -> None:
        """Raises: TooMuchWork when the budget is used up."""
        self._left -= units
        if self._left < 0:
            raise TooMuchWork(
                "The text was not found as it stands, and the file is too repetitive to look for "
                "something similar. Read the place again and copy the lines exactly."
            )


def with_line_ends(text: str, *, of: str) -> str:
    """Give `text` the line ends of another one, which has CRLF when there is any in it."""
    unix = text.replace("\r\n", "\n")
    return unix.replace("\n", "\r\n") if "\r\n" in of else unix


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
