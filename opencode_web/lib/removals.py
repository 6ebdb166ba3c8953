"""Hold off the removal of files while they are copied.

A lock on this host's data folder: whoever removes files shares it, and whoever copies them has it
alone. A process that dies lets it go.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

LOCK_NAME = "removals.lock"
# Of files beside the data that a backup or a restore has copied, and removes at its end.
SCRATCH_PREFIX = ".backup-"
_POLL_S = 0.2


class StillRemoving(Exception):
    """Files are being removed, or another backup runs, for longer than the caller waits."""


@contextmanager
def removing() -> Iterator[bool]:
    """Say whether files may be removed now, and for as long as the block runs."""
    with _lock_file() as fd:
        yield _take(fd, fcntl.LOCK_SH)


@contextmanager
def no_removals(*, wait_s: float) -> Iterator[None]:
    """Let nobody remove files of this host until the block ends. Raises: StillRemoving."""
    deadline = time.monotonic() + wait_s
    with _lock_file() as fd:
        while not _take(fd, fcntl.LOCK_EX):
            if time.monotonic() > deadline:
                raise StillRemoving
            time.sleep(_POLL_S)
        yield


@contextmanager
def _lock_file() -> Iterator[int]:
    folder = Path(settings.DATA_DIR)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield fd
    finally:
        os.close(fd)


def _take(fd: int, how: int) -> bool:
    try:
        fcntl.flock(fd, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
