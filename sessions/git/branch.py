"""What git says of a worktree that an agent can write to, read without trusting what lies there."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from django.conf import settings

from sessions.models import Project
from sessions.secrets import project_redactor
from tools.redaction import Redactor

# Names that the main branch of a repository has, the likeliest first.
MAIN_BRANCHES = ("main", "master", "trunk", "develop")
# A symbolic reference is one line; whatever is longer is none.
_MAX_BYTES = 300
# Packed references are sorted by name, so those of branches come first.
_MAX_PACKED_BYTES = 256 * 1024
_HEAD = re.compile(r"ref: refs/heads/([^\s\0]{1,250})\n?")
_REMOTE_HEAD = re.compile(r"ref: refs/remotes/origin/([^\s\0]{1,250})\n?")


def branch_of(project: Project, redactor: Redactor | None = None) -> str:
    """Returns: for people, so without secrets; empty where the worktree is on another host, or on
    no branch. With the project's redactor, the database is not asked for it."""
    match = _HEAD.fullmatch(_read_text(project, "HEAD"))
    return _shown(project, match[1], redactor) if match else ""


def default_branch_of(project: Project) -> str:
    """Returns: the branch that the origin names as its own, else one with a usual name that is
    there, for people; empty where there is neither, or the worktree is on another host."""
    match = _REMOTE_HEAD.fullmatch(_read_text(project, "refs", "remotes", "origin", "HEAD"))
    if match:
        return _shown(project, match[1])
    packed = _read_text(project, "packed-refs", max_bytes=_MAX_PACKED_BYTES).splitlines()
    there = {line.partition(" ")[2] for line in packed}
    for name in MAIN_BRANCHES:
        if f"refs/heads/{name}" in there or _read_text(project, "refs", "heads", name):
            return name
    return ""


def has_file(folder: Path, name: str) -> bool:
    """Whether a file of this name itself, no link to one, lies in the folder."""
    try:
        return stat.S_ISREG(os.lstat(folder / name).st_mode)
    except (OSError, ValueError):
        return False


def _shown(project: Project, name: str, redactor: Redactor | None = None) -> str:
    known = project_redactor(project.pk) if redactor is None else redactor
    return known.text(name)


def _read_text(project: Project, *names: str, max_bytes: int = _MAX_BYTES) -> str:
    if project.host != settings.HOST_NAME:
        return ""
    return _read(Path(project.directory, ".git"), names, max_bytes).decode(errors="replace")


def _read(git_dir: Path, names: tuple[str, ...], max_bytes: int) -> bytes:
    # A link could lead to any file of the server, also by a folder; a pipe or a device would
    # never end. A worktree of git has a file there, not a folder: its branch stays unknown.
    folder_flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY
    try:
        fd = os.open(git_dir, folder_flags)
    except (OSError, ValueError):
        return b""
    try:
        for place, name in enumerate(names, start=1):
            is_last = place == len(names)
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK if is_last else folder_flags
            inner = os.open(name, flags, dir_fd=fd)
            os.close(fd)
            fd = inner
        return os.read(fd, max_bytes) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(fd)
