"""What `up` needs from the host before it starts, each told in one sentence when it is missing."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

from django.conf import settings

MIN_GIT = (2, 30)
# In the data folder while a restore replaces things. It stays when that was cut short.
RESTORING = "restore-unfinished"


class StartError(Exception):
    """The server cannot start here. The message says why and what to do, in one sentence."""


def require_git() -> str:
    """Returns: the version of git. Raises: StartError when it is missing or too old."""
    wanted = ".".join(map(str, MIN_GIT))
    program = shutil.which("git")
    if program is None:
        raise StartError(f"git is not installed: install git {wanted} or newer, then start again.")
    try:
        said = subprocess.run(  # noqa: S603 - no argument from outside
            [program, "--version"], capture_output=True, text=True, timeout=10, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise StartError(f"git does not run ({exc}): install git {wanted} or newer.") from exc
    found = re.search(r"(\d+)\.(\d+)[.\d]*", said)
    if found is None or (int(found[1]), int(found[2])) < MIN_GIT:
        raise StartError(f"git is too old ({said.strip()}): install git {wanted} or newer.")
    return found[0]


def require_writable(folder: Path) -> None:
    """Make the folder if need be. Raises: StartError when no file can be made in it."""
    try:
        # Other users of the machine have nothing to look for in it.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as exc:
        raise StartError(
            f"The data folder {folder} cannot be used ({exc.strerror}): "
            "set OPENCODE_WEB_DATA to a folder that this user can write to."
        ) from exc


def hold_lock(folder: Path) -> int:
    """Take the data folder for this process, until it ends however it ends.

    Returns: the open file that is the lock; children do not inherit it.
    Raises: StartError when another server has it.
    """
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as exc:
        owner = os.read(lock, 20).decode() or "unknown"
        os.close(lock)
        raise StartError(
            f"Another server (process {owner}) already runs on the data folder {folder}: "
            "stop it, or set OPENCODE_WEB_DATA to another folder."
        ) from exc
    os.truncate(lock, 0)
    os.write(lock, str(os.getpid()).encode())
    return lock


def is_locked(folder: Path) -> bool:
    """Whether a server runs on the data folder now."""
    try:
        os.close(hold_lock(folder))
    except StartError:
        return True
    except OSError:
        return False
    return False


def require_free_port(host: str, port: int) -> None:
    """Raises: StartError when nothing can listen there."""
    try:
        family, kind, proto, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, proto) as probe:
            # As the server does it: a port that was just closed counts as free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen(1)
    except OSError as exc:
        raise StartError(
            f"Port {port} on {host} cannot be used ({exc.strerror}): "
            f"stop what uses it, or start with another one, such as PORT={port + 1}."
        ) from exc


def prepare_host() -> int:
    """Check git and the data folder, and take the folder.

    Returns: the lock, to be held as long as the server runs. Raises: StartError.
    """
    require_git()
    require_writable(settings.DATA_DIR)
    lock = hold_lock(settings.DATA_DIR)
    settings.WORKTREES_DIR.mkdir(parents=True, exist_ok=True)
    return lock
