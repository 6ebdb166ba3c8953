"""Which shells there are. The sandbox shows the programs of the host."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_LISTED = Path("/etc/shells")
_ALWAYS = ("/bin/bash", "/bin/sh")
# Source: OpenCode. What its own commands assume does not hold in these.
_OTHER_LANGUAGE = frozenset({"fish", "nu"})
_NO_SHELL = frozenset({"nologin", "false", "tmux", "screen", "git-shell", "rbash"})


@dataclass(frozen=True)
class Shell:
    """`acceptable` is False for one whose language is not that of the others."""

    path: str
    name: str
    acceptable: bool


def installed_shells() -> list[Shell]:
    """Returns: each program once, by the shortest of its paths, acceptable ones first."""
    try:
        lines = _LISTED.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    paths = [line.strip() for line in lines if line.startswith("/")]
    found: dict[str, str] = {}
    for path in sorted({*_ALWAYS, *paths}, key=lambda path: (len(path), path)):
        name = Path(path).name
        if name not in _NO_SHELL and os.access(path, os.X_OK):
            found.setdefault(name, path)
    shells = [Shell(path, name, name not in _OTHER_LANGUAGE) for name, path in found.items()]
    return sorted(shells, key=lambda shell: (not shell.acceptable, shell.name))


def preferred_shell() -> str:
    """Returns: the path of bash where it is, else of whatever is there."""
    shells = installed_shells()
    best = next((shell for shell in shells if shell.name == "bash"), None)
    return (best or shells[0]).path if shells else "/bin/sh"
