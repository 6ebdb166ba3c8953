from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path

_BLOCK_BYTES = 512


def measure_disk(folders: Iterable[Path], *, stop: Callable[[], bool]) -> int:
    """Add up what folders take on the disk, following no link. Ends early when `stop` says so.

    Files may come and go meanwhile. Units: bytes on the disk; a file with two names counts twice.
    """
    total = 0
    stack = [os.fspath(folder) for folder in folders]
    while stack and not stop():
        try:
            with os.scandir(stack.pop()) as entries:
                for entry in entries:
                    # One that is gone since it was listed is no reason to pass over the rest.
                    with contextlib.suppress(FileNotFoundError):
                        total += entry.stat(follow_symlinks=False).st_blocks * _BLOCK_BYTES
                    if entry.is_dir(follow_symlinks=False):
                        stack.append(entry.path)
        except OSError:
            # Gone meanwhile, or closed to the server by its owner; what is elsewhere counts.
            continue
    return total
