"""Read a range of lines of a text file in bounded memory. Source: OpenCode 1.18."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from tools.redaction import NO_SECRETS, Redactor
from tools.truncate import MAX_BYTES

# Counted as UTF-16, like everywhere in JavaScript.
MAX_LINE_CHARS = 2_000
# Counting the lines that follow stops here: a sparse file is cheap to make and endless to read.
_MAX_SCAN_CHARS = 256 * 1024 * 1024
_PIECE_CHARS = 8_192


@dataclass(frozen=True)
class TextSlice:
    """Lines from `first` on (1-based). `total` is None when reading stopped before the end."""

    lines: tuple[str, ...]
    first: int
    total: int | None
    capped: bool

    @property
    def last(self) -> int:
        return self.first + len(self.lines) - 1

    @property
    def truncated(self) -> bool:
        return self.capped or self.total is None or self.last < self.total


def read_slice(
    file: BinaryIO,
    *,
    first: int,
    limit: int,
    max_bytes: int = MAX_BYTES,
    redactor: Redactor = NO_SECRETS,
) -> TextSlice:
    """Read up to `limit` lines, ending early at `max_bytes` of UTF-8.

    A byte order mark is dropped, other bytes that are not UTF-8 become U+FFFD, and any of the three
    line ends counts. Long lines are cut, after `redactor` has seen them.
    """
    # newline=None: \r, \n and \r\n all become \n, and nothing else ends a line.
    text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline=None)
    try:
        return _collect(_lines(text, redactor), first=first, limit=limit, max_bytes=max_bytes)
    finally:
        text.detach()  # the file is the caller's to close


def _collect(
    found: Iterable[tuple[str, int]], *, first: int, limit: int, max_bytes: int
) -> TextSlice:
    lines: list[str] = []
    size = 0
    number = 0
    scanned = 0
    for line, length in found:
        number += 1
        scanned += length
        if first <= number < first + limit:
            # A newline stands between two lines only.
            size += len(line.encode("utf-8", "replace")) + bool(lines)
            if size > max_bytes:
                return TextSlice(tuple(lines), first, None, capped=True)
            lines.append(line)
        if scanned > _MAX_SCAN_CHARS:
            return TextSlice(tuple(lines), first, None, capped=False)
    return TextSlice(tuple(lines), first, number, capped=False)


def _lines(text: io.TextIOWrapper, redactor: Redactor) -> Iterator[tuple[str, int]]:
    """Yield each line, cut to what is shown, with its true length, in bounded memory."""
    while piece := text.readline(_PIECE_CHARS):
        length = len(piece)
        start = piece
        while not piece.endswith("\n") and length < _MAX_SCAN_CHARS:
            piece = text.readline(_PIECE_CHARS)
            if not piece:
                break
            length += len(piece)
        line = start.removesuffix("\n")
        yield _cut(redactor.text(line) if 2 * len(line) > MAX_LINE_CHARS else line), length


def _cut(line: str) -> str:
    if 2 * len(line) <= MAX_LINE_CHARS:
        return line
    units = line.encode("utf-16-le", "replace")
    if len(units) <= 2 * MAX_LINE_CHARS:
        return line
    # Half of a pair at the end is left out.
    start = units[: 2 * MAX_LINE_CHARS].decode("utf-16-le", "ignore")
    return f"{start}... (line truncated to {MAX_LINE_CHARS} chars)"
