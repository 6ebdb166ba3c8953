"""Find text in files, and files by their names."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import os
import tempfile
from dataclasses import replace
from pathlib import Path

from typing_extensions import TypedDict

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonValue
from sessions.browse.file_scope import FileScope, as_invalid
from sessions.browse.fuzzy import is_whole, score
from tools.files.content_search import Match, find_matches
from tools.files.folders import require_folder
from tools.files.ripgrep import NOT_GIT, path_parts, search_lines
from tools.paths import Located
from tools.text_file import displayable

MAX_MATCHES = 100
MAX_FOUND = 200
MAX_PATTERN_CHARS = 1_000
# A repository with more files is searched as far as this.
_MAX_FILES = 200_000
_LIST = ("--files", "--null", "--hidden", NOT_GIT, "--", ".")


class MatchText(TypedDict):
    """Text that need not be all of the file's bytes."""

    text: str


class Submatch(TypedDict):
    """Units: bytes from the start of the line."""

    match: MatchText
    start: int
    end: int


class FoundLine(TypedDict):
    """A line that matches."""

    path: MatchText
    lines: MatchText
    line_number: int
    absolute_offset: int
    submatches: list[Submatch]


async def find_text(scope: FileScope, pattern: str) -> list[FoundLine]:
    """Returns: matches as ripgrep tells them, at most `MAX_MATCHES`, paths from the directory.

    Files that the caller may not read are left out. A line with a secret is found by what is shown
    of it, so that nobody can guess the secret by searching for it.
    Raises: Invalid for a pattern that cannot be read.
    """
    _require_pattern(pattern)
    folder = await _folder(scope)
    found: list[Match] = []
    secret: list[Match] = []
    readable: dict[str, bool] = {}
    with as_invalid():
        matches = find_matches(folder, pattern, at_once=MAX_MATCHES)
        async with contextlib.aclosing(matches):
            async for match in matches:
                key = match.file.key
                if key not in readable:
                    readable[key] = scope.may_read(key)
                if readable[key]:
                    clean = scope.redactor.data(match.raw)
                    (found if clean is match.raw else secret).append(match)
                if MAX_MATCHES in (len(found), len(secret)):
                    break
        found += await _match_again(scope, secret, pattern)
    found.sort(key=lambda match: match.place)
    return [_to_wire(scope, match) for match in found[:MAX_MATCHES]]


async def _match_again(scope: FileScope, matches: list[Match], pattern: str) -> list[Match]:
    """Returns: those that match when their secrets are masked, as they are then."""
    if not matches:
        return []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        lines = [scope.redactor.data(match.raw).rstrip(b"\r\n") + b"\n" for match in matches]
        await asyncio.to_thread((folder / "lines").write_bytes, b"".join(lines))
        again = find_matches(Located(folder, folder, folder, ""), pattern, at_once=len(lines))
        async with contextlib.aclosing(again):
            return [
                replace(matches[one.line - 1], raw=one.raw, spans=one.spans) async for one in again
            ]


async def find_files(
    scope: FileScope, query: str, kind: str = "", limit: int = 100, first: list[str] | None = None
) -> list[str]:
    """Returns: paths from the directory, the best first; folders end with a slash.

    `kind` is `file` or `directory`, or empty for both. Those of `first` come before the others, in
    their order, where they have the query as a whole.
    """
    if len(query) > MAX_PATTERN_CHARS:
        raise Invalid(f"The query can have at most {MAX_PATTERN_CHARS} characters.", kind="Query")
    # Masked before they are compared, so that nobody can guess a secret by searching for it.
    listed: list[JsonValue] = [*await list_names(scope)]
    names = [str(name) for name in scope.redactor.json(listed)]
    best = await asyncio.to_thread(_best, query, names, kind, min(limit, MAX_FOUND), first or [])
    return [displayable(name) for name in best]


async def list_names(scope: FileScope) -> list[str]:
    """Returns: the paths of all files that git does not ignore, from the directory."""
    folder = await _folder(scope)
    names: list[str] = []
    with as_invalid():
        records = search_lines(folder, _LIST, separator=b"\0")
        async with contextlib.aclosing(records):
            async for record in records:
                names.append("/".join(path_parts(os.fsdecode(record))))
                if len(names) == _MAX_FILES:
                    break
    return names


async def _folder(scope: FileScope) -> Located:
    folder = scope.locate("")
    with as_invalid():
        await asyncio.to_thread(require_folder, folder, tool="find")
    return folder


def _best(query: str, names: list[str], kind: str, limit: int, first: list[str]) -> list[str]:
    candidates = [] if kind == "directory" else list(names)
    if kind != "file":
        candidates += _folders(names)
    rated = ((score(query, name), name) for name in candidates)
    places = {name: place for place, name in enumerate(first)}
    fitting = [
        (places.get(name, len(first)) if is_whole(rate, query) else len(first), -rate, name)
        for rate, name in rated
        if rate is not None
    ]
    return [name for _, _, name in heapq.nsmallest(limit, fitting)]


def _folders(names: list[str]) -> list[str]:
    found: set[str] = set()
    for name in names:
        parent = name.rpartition("/")[0]
        while parent and f"{parent}/" not in found:
            found.add(f"{parent}/")
            parent = parent.rpartition("/")[0]
    return list(found)


def _require_pattern(pattern: str) -> None:
    if not 0 < len(pattern) <= MAX_PATTERN_CHARS:
        raise Invalid(f"pattern must have 1 to {MAX_PATTERN_CHARS} characters.", kind="Query")


def _to_wire(scope: FileScope, match: Match) -> FoundLine:
    path = os.path.relpath(match.file.path, scope.directory)
    spans: list[Submatch] = [
        {
            "match": {"text": match.raw[start:end].decode("utf-8", "replace")},
            "start": start,
            "end": end,
        }
        for start, end in match.spans
    ]
    return {
        "path": {"text": displayable(path)},
        "lines": {"text": match.raw.decode("utf-8", "replace")},
        "line_number": match.line,
        "absolute_offset": match.offset,
        "submatches": spans,
    }
