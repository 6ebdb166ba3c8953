"""Lines of files that match a pattern, each read again without following a link."""

from __future__ import annotations

import base64
import contextlib
import functools
import json
import os
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

from tools.errors import ToolError
from tools.files.ordered_search import Place, search_in_order, true_ones
from tools.files.ripgrep import content_arguments, path_parts
from tools.paths import Located, open_file

_MAX_LINE_CHARS = 2_000


@dataclass(frozen=True)
class Match:
    """A line that matches. `offset` is where it begins in the file; `spans` are where in it the
    pattern does. Units: bytes."""

    file: Located
    line: int
    offset: int
    raw: bytes
    spans: tuple[tuple[int, int], ...] = ()

    @property
    def place(self) -> Place:
        """Where it is in the order of all."""
        return os.fsencode(self.file.relative).split(b"/"), self.line

    @property
    def text(self) -> str:
        """The line without its end, cut where it is very long."""
        text = self.raw.decode("utf-8", "replace").rstrip("\r\n")
        return text if len(text) <= _MAX_LINE_CHARS else f"{text[:_MAX_LINE_CHARS]}..."


async def find_matches(
    folder: Located, pattern: str, *, include: str | None = None, target: str = ".", at_once: int
) -> AsyncGenerator[Match, None]:
    """Yield the lines below a folder that match, in the order of paths. `target` is in the folder.

    So many as are wanted `at_once` are looked at together.
    Raises: ToolError as `search_lines`, for a pattern that cannot be read too.
    """
    arguments = [*content_arguments(pattern, include=include), "--", target]
    child = functools.cache(lambda path: folder.child(*path_parts(os.fsdecode(path))))
    matches = search_in_order(
        folder, arguments, lambda record: _parse(child, record), place=lambda match: match.place
    )
    true = true_ones(matches, is_true, at_once=at_once)
    async with contextlib.aclosing(matches), contextlib.aclosing(true):
        async for match in true:
            yield match


def _parse(child: Callable[[bytes], Located], record: bytes) -> Match | None:
    event = json.loads(record)
    if event.get("type") != "match":
        return None
    data = event["data"]
    return Match(
        file=child(_bytes(data["path"])),
        line=data["line_number"],
        offset=data["absolute_offset"],
        raw=_bytes(data["lines"]),
        spans=tuple((span["start"], span["end"]) for span in data["submatches"]),
    )


def _bytes(value: dict[str, str]) -> bytes:
    return base64.b64decode(value["bytes"]) if "bytes" in value else value["text"].encode()


def is_true(match: Match) -> bool:
    """Read the line again without following links: ripgrep may have been led out by one."""
    try:
        with open_file(match.file) as fd:
            return os.pread(fd, len(match.raw), match.offset) == match.raw
    except (OSError, ToolError):
        return False
