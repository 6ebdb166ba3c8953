"""A sandbox's own /proc, which lists its processes and no others, read from outside."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def open_folder(path: str, *, at: int | None = None) -> Iterator[int]:
    """Yields: a descriptor of the folder."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=at)
    try:
        yield fd
    finally:
        os.close(fd)


@contextmanager
def open_proc(pid: int) -> Iterator[tuple[int, int]]:
    """Open the root folder of the sandbox in which `pid` is the first process, and /proc in it.

    Raises: FileNotFoundError or ProcessLookupError when it is not set up yet, or gone;
    PermissionError.
    """
    with open_folder(f"/proc/{pid}/root") as root, open_folder("proc", at=root) as proc:
        # Before it has changed its root, this is the host's /proc.
        if os.fstat(proc).st_dev == Path("/proc").stat().st_dev:
            raise FileNotFoundError(f"the sandbox of process {pid} is not set up yet")
        yield root, proc
