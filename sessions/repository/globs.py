"""Find files by a pattern in a hostile folder: no link is entered, and the search is bounded."""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

MAX_ENTRIES = 20_000
# Each safe boundary asks; a file that is added shows up so much later at most.
FRESH_S = 20.0
_MAX_CACHED = 512
_NEVER = frozenset({".git", "node_modules"})

_found: OrderedDict[tuple[Path, str], tuple[float, tuple[Path, ...]]] = OrderedDict()
_lock = threading.Lock()


def find_files(folder: Path, pattern: str) -> tuple[Path, ...]:
    """Find the files below `folder` that a glob names, `**` for any number of folders.

    Returns: sorted paths; those found until then when there is more than `MAX_ENTRIES` to look at.
    """
    key, now = (folder, pattern), time.monotonic()
    with _lock:
        known = _found.get(key)
        if known is not None and now - known[0] < FRESH_S:
            return known[1]
    segments = [segment for segment in pattern.split("/") if segment not in {"", "."}]
    if not segments or ".." in segments:
        return ()
    paths = tuple(sorted(set(_match(folder, segments, _Budget(MAX_ENTRIES)))))
    with _lock:
        _found[key] = (now, paths)
        _found.move_to_end(key)
        while len(_found) > _MAX_CACHED:
            _found.popitem(last=False)
    return paths


def forget_found() -> None:
    """Look anew from now on."""
    with _lock:
        _found.clear()


@dataclass
class _Budget:
    left: int


def _match(folder: Path, segments: list[str], budget: _Budget) -> Iterator[Path]:
    head, *rest = segments
    if head == "**" and rest:
        yield from _match(folder, rest, budget)
    for entry in _entries(folder, budget):
        is_folder = entry.is_dir(follow_symlinks=False)
        if head == "**":
            if is_folder:
                yield from _match(Path(entry.path), segments, budget)
            elif not rest:
                yield Path(entry.path)
        elif not fnmatchcase(entry.name, head):
            continue
        elif not rest:
            if not is_folder:
                yield Path(entry.path)
        elif is_folder:
            yield from _match(Path(entry.path), rest, budget)


def _entries(folder: Path, budget: _Budget) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        budget.left -= 1
        if budget.left < 0:
            return
        if entry.name not in _NEVER:
            yield entry
