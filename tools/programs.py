"""Programs that a sandbox can start: those of the system, and those of the project itself.

A project's own is code of the repository, as much as a test that an agent runs: it runs in the
sandbox only. Looks at what is there, and follows no link: a wrong guess fails in the sandbox.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

from tools.sandbox.environment import SYSTEM_PATH

_IN_PROJECT = ("node_modules/.bin", ".venv/bin", "venv/bin", "vendor/bin")


def find_command(
    commands: Iterable[tuple[str, ...]], folders: Iterable[Path]
) -> tuple[str, ...] | None:
    """Find the first command whose program is there.

    `folders` are those of the project in which programs may lie, the nearest first.
    Returns: the command with the path of a project's own program, or None.
    """
    places = [*folders]
    for name, *arguments in commands:
        if program := _find(name, places):
            return (program, *arguments)
    return None


def find_python(folders: Iterable[Path]) -> str | None:
    """Find the Python of a project's own environment."""
    for folder in folders:
        for name in (".venv", "venv"):
            if _is_there(path := folder / name / "bin" / "python"):
                return str(path)
    return None


def _find(name: str, folders: list[Path]) -> str | None:
    if "/" in name:
        # By its path: below the project, or one of the system's.
        below = [folder / name for folder in folders]
        return next((str(path) for path in below if _is_there(path)), None)
    for folder in folders:
        for place in _IN_PROJECT:
            if _is_there(path := folder / place / name):
                return str(path)
    system = [*SYSTEM_PATH.split(":"), str(Path(sys.base_prefix) / "bin")]
    return name if any(_is_there(Path(place, name)) for place in system) else None


def _is_there(path: Path) -> bool:
    try:
        mode = os.lstat(path).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISLNK(mode) or (stat.S_ISREG(mode) and bool(mode & 0o111))
