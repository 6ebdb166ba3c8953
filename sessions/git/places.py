"""Where checkouts and their store lie."""

from __future__ import annotations

import asyncio
import fcntl
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from django.conf import settings

from opencode_web.lib.text import slug_of

STORE = "store.git"
_POLL_S = 0.05


def checkouts_root() -> Path:
    """The folder of every project's checkouts."""
    return Path(os.path.realpath(settings.DATA_DIR)) / "checkouts"


def rescued_root() -> Path:
    """Stores of projects that are gone, with the work in them that was merged nowhere."""
    return Path(os.path.realpath(settings.DATA_DIR)) / "rescued"


def project_home(project_id: str) -> Path:
    """What belongs to one project. Raises: ValueError for a bad id."""
    return checkouts_root() / _plain(project_id)


def store_of(project_id: str) -> Path:
    """The bare repository that the checkouts of a project borrow objects from."""
    return project_home(project_id) / STORE


def lent_objects(project_id: str) -> Path:
    """What the commands of a checkout must be able to read beside it."""
    return store_of(project_id) / "objects"


def checkout_folder(project_id: str, session_id: str, name: str) -> Path:
    """Where the files of a session go. The last piece is for people and models."""
    last = slug_of(name)[:60].strip("-_") or "code"
    return project_home(project_id) / _plain(session_id) / last


def _plain(name: str) -> str:
    # Such a folder is removed as a whole one day: nothing else may come after the root.
    if not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        raise ValueError(name)
    return name


@asynccontextmanager
async def locked(folder: Path, name: str) -> AsyncIterator[None]:
    """Hold a lock of this host until the block is left. A process that dies lets it go."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                await asyncio.sleep(_POLL_S)
            else:
                break
        yield
    finally:
        # The file stays: a lock on a removed one would hold nobody off.
        os.close(fd)
