"""Reviews of pull requests: what one says, and the lines that a forge takes comments on. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPES = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f"}


class Verdict(StrEnum):
    """What a review comes to."""

    COMMENT = "comment"
    APPROVE = "approve"
    REQUEST_CHANGES = "request_changes"


@dataclass(frozen=True)
class LineComment:
    """What is said of a line, or of all from `start` on, 0 for the one alone.

    `is_old`: of the file as it was before. `suggestion` is what the lines should be instead.
    """

    path: str
    line: int
    body: str
    start: int = 0
    is_old: bool = False
    suggestion: str | None = None

    @property
    def first(self) -> int:
        """The first of its lines."""
        return self.start or self.line

    @property
    def place(self) -> str:
        """Where it is, for people."""
        lines = f"{self.first}-{self.line}" if self.first != self.line else str(self.line)
        return f"{self.path}:{lines}" + (" (before the change)" if self.is_old else "")

    def text(self, info: str = "") -> str:
        """Returns: the comment, its suggestion as a block of code of the kind `info`."""
        if self.suggestion is None:
            return self.body
        # Longer than any in it: nothing of it is outside of the block.
        longest = max((len(run) for run in re.findall("`+", self.suggestion)), default=0)
        fence = "`" * max(3, longest + 1)
        code = f"{self.suggestion}\n" if self.suggestion else ""
        return f"{self.body}\n\n{fence}{info}\n{code}{fence}"


@dataclass(frozen=True)
class Review:
    """A review of the newest commit of a pull request, `commit`.

    `mark` stands in all that is written of it. `comments` are on lines of the diff; the summary has
    the others.
    """

    mark: str
    commit: str
    verdict: Verdict
    summary: str
    comments: tuple[LineComment, ...] = ()
    others: tuple[LineComment, ...] = ()

    def text(self, *more: LineComment) -> str:
        """Returns: the summary, with the comments that are on no line, `more` among them."""
        texts = [self.summary]
        for one in (*self.others, *more):
            place = one.place.replace("`", "'")
            texts.append(f"**`{place}`**\n\n{one.text()}")
        return "\n\n".join([*texts, self.mark])


@dataclass
class FileLines:
    """The lines of a file that its diff shows: number → (which hunk, number on the other side).

    The other number is 0 for a line that was added or removed.
    """

    old_path: str
    old: dict[int, tuple[int, int]] = field(default_factory=dict)
    new: dict[int, tuple[int, int]] = field(default_factory=dict)


# By the path after the change, or before it where the file is gone.
Diff: TypeAlias = dict[str, FileLines]


def is_in(diff: Diff, comment: LineComment) -> bool:
    """Whether all lines of a comment are in one hunk."""
    lines = diff.get(comment.path)
    if lines is None or comment.first > comment.line:
        return False
    side = lines.old if comment.is_old else lines.new
    first, last = side.get(comment.first), side.get(comment.line)
    return first is not None and last is not None and first[0] == last[0]


class _Reader:
    """Reads the hunks of one file, line by line."""

    def __init__(self, old_path: str) -> None:
        self.lines = FileLines(old_path)
        self._hunk = self._old = self._new = self._old_left = self._new_left = 0

    def take(self, line: str) -> bool:
        """Returns: False for a line that is outside of hunks."""
        if not (self._old_left or self._new_left):
            found = _HUNK.match(line)
            if found is None:
                return False
            old, old_count, new, new_count = found.groups()
            self._hunk += 1
            self._old, self._new = int(old), int(new)
            self._old_left, self._new_left = int(old_count or 1), int(new_count or 1)
            return True
        if line.startswith("+"):
            self._step(old=False)
        elif line.startswith("-"):
            self._step(new=False)
        elif not line.startswith("\\"):
            self._step()
        return True

    def _step(self, *, old: bool = True, new: bool = True) -> None:
        if old:
            self.lines.old[self._old] = (self._hunk, self._new if new else 0)
        if new:
            self.lines.new[self._new] = (self._hunk, self._old if old else 0)
        self._old, self._new = self._old + old, self._new + new
        self._old_left = max(0, self._old_left - old)
        self._new_left = max(0, self._new_left - new)


def read_hunks(text: str, *, old_path: str) -> FileLines:
    """Read the hunks of one file, as forges send them."""
    reader = _Reader(old_path)
    for line in text.split("\n"):
        reader.take(line)
    return reader.lines


def read_diff(text: str) -> Diff:
    """Read a whole diff as git writes it. What is cut off at its end is left out."""
    diff: Diff = {}
    old, reader = "", _Reader("")
    for line in text.split("\n"):
        if reader.take(line):
            continue
        if line.startswith("--- "):
            old = _path(line)
        elif line.startswith("+++ "):
            new = _path(line) or old
            reader = _Reader(old or new)
            diff[new] = reader.lines
    return diff


def _path(line: str) -> str:
    """Returns: the path of a --- or +++ line without its a/ or b/; empty for /dev/null."""
    name = line[4:].removesuffix("\t")
    if name == "/dev/null":
        return ""
    if name.startswith('"'):
        raw = _ESCAPE.sub(_unescape, name.strip('"').encode())
        name = raw.decode("utf-8", "replace")
    return name.partition("/")[2]


def _unescape(found: re.Match[bytes]) -> bytes:
    said = found[1]
    return bytes([int(said, 8) & 255]) if len(said) == 3 else _ESCAPES.get(said, said)
