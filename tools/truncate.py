"""Bound a text by lines and by bytes, with an account of what was left out. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

# Source: OpenCode 1.18.
MAX_LINES = 2_000
MAX_BYTES = 51_200


class Limit(StrEnum):
    """Which bound was hit first."""

    LINES = "lines"
    BYTES = "bytes"


class Keep(StrEnum):
    """Which part of a text that is too long is kept."""

    HEAD = "head"
    TAIL = "tail"
    BOTH = "both"


@dataclass(frozen=True)
class Truncation:
    """The kept text and the figures of the whole. Bytes are those of UTF-8, line ends included.

    `end` is what was kept behind the gap, when both ends were.
    """

    text: str
    limit: Limit | None
    total_lines: int
    total_bytes: int
    kept_lines: int
    kept_bytes: int
    end: str = ""

    @property
    def truncated(self) -> bool:
        return self.limit is not None

    @property
    def left_out(self) -> str:
        """Say how much is missing: in lines, or in bytes when those ended it."""
        if self.limit is Limit.BYTES:
            return f"{self.total_bytes - self.kept_bytes} bytes"
        return f"{self.total_lines - self.kept_lines} lines"


def keep_head(text: str, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> Truncation:
    """Keep the first whole lines that fit; a too long first line is cut at its end."""
    return _keep(text, max_lines=max_lines, max_bytes=max_bytes, from_end=False)


def keep_tail(text: str, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> Truncation:
    """Keep the last whole lines that fit; a too long last line is cut at its front."""
    return _keep(text, max_lines=max_lines, max_bytes=max_bytes, from_end=True)


def keep_both(text: str, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> Truncation:
    """Keep the first and the last whole lines, about half of the bounds each."""
    whole = keep_head(text, max_lines=max_lines, max_bytes=max_bytes)
    if not whole.truncated:
        return whole
    head = keep_head(text, max_lines=-(-max_lines // 2), max_bytes=-(-max_bytes // 2))
    rest = text.encode("utf-8", "replace")[head.kept_bytes :].decode("utf-8")
    tail = keep_tail(
        rest, max_lines=max_lines - head.kept_lines, max_bytes=max_bytes - head.kept_bytes
    )
    limits = {head.limit, tail.limit}
    return replace(
        head,
        end=tail.text,
        limit=Limit.BYTES if Limit.BYTES in limits else Limit.LINES,
        kept_lines=head.kept_lines + tail.kept_lines,
        kept_bytes=head.kept_bytes + tail.kept_bytes,
    )


def cut_bytes(data: bytes, *, size: int, from_end: bool) -> bytes:
    """Keep at most `size` bytes without splitting a UTF-8 character."""
    if len(data) <= size:
        return data
    if from_end:
        start = len(data) - size
        while start < len(data) and data[start] & 0xC0 == 0x80:
            start += 1
        return data[start:]
    end = size
    while end > 0 and data[end] & 0xC0 == 0x80:
        end -= 1
    return data[:end]


def _keep(text: str, *, max_lines: int, max_bytes: int, from_end: bool) -> Truncation:
    data = text.encode("utf-8", "replace")
    # Only "\n" ends a line here: str.splitlines() would also cut at form feeds and U+2028.
    lines = data.split(b"\n")
    ended = lines[-1] == b""
    whole = [line + b"\n" for line in lines[:-1]] + ([] if ended else [lines[-1]])
    kept: list[bytes] = []
    size = 0
    limit: Limit | None = None
    for line in reversed(whole) if from_end else whole:
        if len(kept) == max_lines:
            limit = Limit.LINES
            break
        if size + len(line) > max_bytes:
            limit = Limit.BYTES
            break
        kept.append(line)
        size += len(line)
    if limit is Limit.BYTES and not kept:
        kept = [cut_bytes(whole[-1 if from_end else 0], size=max_bytes, from_end=from_end)]
    if from_end:
        kept.reverse()
    result = b"".join(kept)
    return Truncation(
        text=result.decode("utf-8", "replace"),
        limit=limit,
        total_lines=len(whole),
        total_bytes=len(data),
        kept_lines=len(kept),
        kept_bytes=len(result),
    )
