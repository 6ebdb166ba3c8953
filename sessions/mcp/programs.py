"""Programs of MCP servers that lie in the worktree, where agents can change them.

They run without anybody being asked as soon as a turn wants to know their tools, so an admin has to
accept them first, as they are. Only the files that a command names are looked at.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from sessions.config.programs import McpConfig
from sessions.models import McpProgram

MAX_BYTES = 64 * 1024 * 1024
_MAX_PATH_CHARS = 4_096


def programs_in(folder: Path, server: McpConfig) -> dict[str, str]:
    """Returns: the digests of the files of a worktree that a server's command names, by path.

    Of a link that leads out of it, and of what cannot be read, that of the path it leads to.
    """
    if server.is_remote:
        return {}
    root = Path(os.path.realpath(folder))
    found: dict[str, str] = {}
    for path in _named(root, server):
        real = Path(os.path.realpath(path))
        within = next((one for one in (path, real) if one.is_relative_to(root)), None)
        if within is not None and _is_program(path):
            found[within.relative_to(root).as_posix()] = _digest(root, real)
    return found


def _is_program(path: Path) -> bool:
    """Whether something is there that is no folder; a link counts that leads nowhere."""
    try:
        return not stat.S_ISDIR(path.stat().st_mode)
    except OSError:
        return os.path.lexists(path)


def digest_of_programs(files: dict[str, str]) -> str:
    """Returns: what changes with any of the files; nothing when there are none."""
    if not files:
        return ""
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()


def accepted_programs(project_id: str) -> dict[str, McpProgram]:
    """Returns: what admins have accepted, by the name of the server. One query."""
    return {row.name: row for row in McpProgram.objects.filter(project=project_id)}


def unaccepted(files: dict[str, str], row: McpProgram | None) -> str:
    """Returns: why a server with these files in the worktree is not started; else nothing."""
    if not files or (row is not None and row.digest == digest_of_programs(files)):
        return ""
    return (
        f"It runs {', '.join(sorted(files)[:5])} of this project, where agents can change it. An "
        "admin of the team has to accept it as it is, under MCP servers on the project's page."
    )


def _named(root: Path, server: McpConfig) -> Iterator[Path]:
    """Yield the paths that the words of a command can mean, whether or not anything is there."""
    start = Path(os.path.normpath(root / server.cwd))
    for before, word in zip(("", *server.command), server.command, strict=False):
        names = {word, word.partition("=")[2]}
        if before == "-m":
            module = word.replace(".", "/")
            names |= {f"{module}.py", f"{module}/__main__.py"}
        for name in sorted(names):
            if name and len(name) <= _MAX_PATH_CHARS and "\0" not in name:
                yield Path(os.path.normpath(start / name))


def _digest(root: Path, real: Path) -> str:
    try:
        content = _content(real) if real.is_relative_to(root) else None
    except OSError:  # a link that leads nowhere, say: where it leads to is all there is
        content = None
    return content or hashlib.sha256(f"-> {real}".encode(errors="surrogateescape")).hexdigest()


def _content(real: Path) -> str | None:
    # Not opened before it is known to be a file: a pipe would never end.
    facts = real.stat()
    if not stat.S_ISREG(facts.st_mode) or facts.st_size > MAX_BYTES:
        return None
    with real.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
