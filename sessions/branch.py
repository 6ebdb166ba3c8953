"""What git says of a worktree that an agent can write to, read without trusting what lies there."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from django.conf import settings

from sessions.models import Project

# A symbolic reference is one line; whatever is longer is none.
_MAX_BYTES = 300
_HEAD = re.compile(r"ref: refs/heads/([^\s\0]{1,250})\n?")


def branch_of(project: Project) -> str:
    """Returns: empty where the worktree is on another host, or on no branch."""
    if project.host != settings.HOST_NAME:
        return ""
    head = _read_head(Path(project.directory, ".git"))
    match = _HEAD.fullmatch(head.decode(errors="replace"))
    return match[1] if match else ""


def has_file(folder: Path, name: str) -> bool:
    """Whether a file of this name itself, no link to one, lies in the folder."""
    try:
        return stat.S_ISREG(os.lstat(folder / name).st_mode)
    except (OSError, ValueError):
        return False


def _read_head(git_dir: Path) -> bytes:
    # A link could lead to any file of the server, also by the folder; a pipe or a device would
    # never end. A worktree of git has a file there, not a folder: its branch stays unknown.
    folder_flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY
    try:
        folder = os.open(git_dir, folder_flags)
    except (OSError, ValueError):
        return b""
    try:
        fd = os.open("HEAD", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError:
        return b""
    finally:
        os.close(folder)
    try:
        return os.read(fd, _MAX_BYTES) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(fd)
