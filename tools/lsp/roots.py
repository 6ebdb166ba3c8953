"""The folder that a server works in for a file. Looks at what is there, and follows no link."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from tools.errors import ToolError
from tools.lsp.spec import ServerSpec
from tools.paths import Located, read_bytes

_MAX_MARKER_BYTES = 64 * 1024
# A folder with more names than this is not looked through for a pattern.
_MAX_NAMES = 2_000


def find_root(spec: ServerSpec, file: Path, worktree: Path) -> Path | None:
    """Find where a server works. Both paths are without links. Returns: None: not for this file."""
    folders = list(folders_above(file, worktree))
    if not folders or (spec.unless and _nearest(folders, spec.unless)):
        return None
    for group in spec.markers:
        if (found := _nearest(folders, group)) is not None:
            return _outermost(spec, found, folders, worktree) if spec.outermost else found
    return None if spec.needs_marker else worktree


def folders_above(file: Path, worktree: Path) -> Iterator[Path]:
    """Yields: the folder of a file and those above it, up to the worktree; none outside of it."""
    folder = file.parent
    while folder.is_relative_to(worktree):
        yield folder
        if folder == worktree:
            return
        folder = folder.parent


def has_any(folder: Path, names: Iterable[str]) -> bool:
    """Tell whether a folder holds something of these names or patterns."""
    patterns = []
    for name in names:
        if "*" in name:
            patterns.append(name)
        elif os.path.lexists(folder / name):
            return True
    return bool(patterns) and any(
        fnmatchcase(name, pattern) for name in _names(folder) for pattern in patterns
    )


def _nearest(folders: Iterable[Path], names: tuple[str, ...]) -> Path | None:
    return next((folder for folder in folders if has_any(folder, names)), None)


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry, _ in zip(entries, range(_MAX_NAMES), strict=False)]
    except OSError:
        return []


def _outermost(spec: ServerSpec, found: Path, folders: list[Path], worktree: Path) -> Path:
    for folder in reversed(folders[folders.index(found) :]):
        if spec.outermost.encode() in read_small(folder / spec.markers[0][0], worktree):
            return folder
    return found


def read_small(path: Path, worktree: Path) -> bytes:
    """Read a small file of the worktree without following links. Returns: b"" when it is none."""
    located = Located(worktree, path, path, path.relative_to(worktree).as_posix())
    try:
        return read_bytes(located, max_bytes=_MAX_MARKER_BYTES)
    except (OSError, ToolError):
        return b""
