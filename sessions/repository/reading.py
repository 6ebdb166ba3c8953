"""Read text files of a worktree. Who may write there chose their names, links and contents."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

from opencode_web.lib.text import clean_text
from tools.errors import ToolError
from tools.paths import Located, open_file

MAX_FILE_BYTES = 64 * 1024
_MAX_CACHED = 512

# Device, inode, size, times of change: a file that was written again differs in one of them.
_Stamp = tuple[int, int, int, int, int]
_cache: OrderedDict[tuple[Path, Path], tuple[_Stamp, str]] = OrderedDict()
_lock = threading.Lock()


class Unavailable(Exception):
    """Something is there and cannot be read now; who knows an earlier value goes on with it."""


def folders_upward(directory: Path, worktree: Path) -> Iterator[Path]:
    """The working directory, then its parents up to the root of the worktree."""
    folder = directory
    while folder != worktree and folder.is_relative_to(worktree):
        yield folder
        folder = folder.parent
    yield worktree


def read_instructions(root: Path, path: Path) -> str | None:
    """Read a file below `root`, its first 64 KiB. One that has not changed is only looked up.

    Returns: None when there is none, or when it is no file that lies below `root`: a link is
    followed within it only.
    Raises: Unavailable when there is one that cannot be read now.
    """
    try:
        stamp = _stamp(path.stat())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as exc:
        raise Unavailable(str(path)) from exc
    # Whatever links lead there by now: it is the file that was read from below the root.
    with _lock:
        known = _cache.get((root, path))
        if known is not None and known[0] == stamp:
            _cache.move_to_end((root, path))
            return known[1]
    return _read_beneath(root, path)


def _read_beneath(root: Path, path: Path) -> str | None:
    real_root, real = Path(os.path.realpath(root)), Path(os.path.realpath(path))
    if not real.is_relative_to(real_root):
        return None
    # What was a file when the path was resolved and is a link by now is not opened.
    file = Located(real_root, path, real, real.relative_to(real_root).as_posix())
    try:
        with open_file(file) as fd:
            return _read(fd, (root, path))
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, ToolError):
        return None
    except OSError as exc:
        raise Unavailable(str(path)) from exc


def _stamp(status: os.stat_result) -> _Stamp:
    times = (status.st_mtime_ns, status.st_ctime_ns)
    return (status.st_dev, status.st_ino, status.st_size, *times)


def _read(fd: int, key: tuple[Path, Path]) -> str:
    # Before the reading: what is written meanwhile makes another stamp.
    stamp = _stamp(os.fstat(fd))
    with os.fdopen(os.dup(fd), "rb") as file:
        raw = file.read(MAX_FILE_BYTES + 1)
    text = clean_text(raw[:MAX_FILE_BYTES].decode("utf-8-sig", errors="replace"))
    if len(raw) > MAX_FILE_BYTES:
        text += f"\n(Cut here: the file is larger than {MAX_FILE_BYTES} bytes.)"
    with _lock:
        _cache[key] = (stamp, text)
        while len(_cache) > _MAX_CACHED:
            _cache.popitem(last=False)
    return text
