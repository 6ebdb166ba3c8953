"""What of a worktree goes into its snapshots. Everything in it is hostile: names are bytes."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# A file that is not in the index yet stays out of it above this. Source: OpenCode's snapshots.
MAX_NEW_FILE_BYTES = 2 * 1024 * 1024
# One that is in the index keeps its older state there above this.
MAX_FILE_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True)
class LeftOut:
    """A large new file that is in no snapshot. `changed_ms` is by the clock of its host."""

    file: str
    size_bytes: int
    changed_ms: int


@dataclass(frozen=True)
class Looked:
    """What to record, what to forget, and what is too large."""

    there: list[bytes]
    gone: list[bytes]
    left_out: list[LeftOut]


def look_at(worktree: Path, listed: Iterable[bytes]) -> Looked:
    """Sort what `git ls-files -z -t` has listed. The rest is passed over. Blocks."""
    root = os.fsencode(worktree)
    there, gone, left_out = dict[bytes, None](), dict[bytes, None](), list[LeftOut]()
    real = cache(lambda folder: os.path.realpath(folder) == folder)
    for entry in listed:
        tag, _, path = entry.partition(b" ")
        # A nested repository is listed as a folder.
        if not path or path.endswith(b"/"):
            continue
        full = os.path.join(root, path)  # noqa: PTH118  bytes: names need not be text
        known = tag != b"?"
        # git does not follow a link on the way to a file, but it fails for good over one.
        info = _state(full) if real(os.path.dirname(full)) else None  # noqa: PTH120
        if info is None or not (stat.S_ISREG(info.st_mode) or stat.S_ISLNK(info.st_mode)):
            if known:
                gone[path] = None
        elif _is_wanted(info, known=known):
            there[path] = None
        elif not known and info.st_size > MAX_NEW_FILE_BYTES:
            name, changed_ms = path.decode("utf-8", "replace"), info.st_ctime_ns // 1_000_000
            left_out.append(LeftOut(name, info.st_size, changed_ms))
    return Looked(list(there), list(gone), left_out)


def _state(path: bytes) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _is_wanted(info: os.stat_result, *, known: bool) -> bool:
    if stat.S_ISLNK(info.st_mode):
        return True
    # In the sandbox git has the server's user but none of its powers; over a file that it cannot
    # read it would fail as a whole.
    if info.st_uid == os.geteuid():
        readable = stat.S_IRUSR
    elif info.st_gid in {os.getegid(), *os.getgroups()}:
        readable = stat.S_IRGRP
    else:
        readable = stat.S_IROTH
    limit = MAX_FILE_BYTES if known else MAX_NEW_FILE_BYTES
    return bool(info.st_mode & readable) and info.st_size <= limit
