"""What a terminal has in its environment beside what the sandbox sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.utils.module_loading import import_string

from sessions.models import Terminal

_PAGER = "/usr/bin/less"


@dataclass(frozen=True)
class TerminalLocation:
    """The Location of a terminal and its person, for the host's own function.

    `directory` is the worktree and `cwd` the folder in it where the program starts.
    """

    project_id: str
    team_id: str
    user_id: int
    email: str
    directory: str
    cwd: str


def terminal_environment(terminal: Terminal, given: Mapping[str, str]) -> dict[str, str]:
    """Build it: a person sits there, then what the client gave, then the host's overlay.

    `TERMINAL_ENVIRONMENT` names the overlay's function. It is called for every terminal, in a
    worker, and may block. What it raises keeps the terminal from starting.
    """
    return {**_for_people(), **given, **_overlay(location_of(terminal))}


def location_of(terminal: Terminal) -> TerminalLocation:
    """Where a terminal is."""
    return TerminalLocation(
        project_id=terminal.project_id,
        team_id=terminal.project.team_id,
        user_id=terminal.creator_id,
        email=terminal.creator.email,
        directory=terminal.directory,
        cwd=terminal.cwd,
    )


def _for_people() -> dict[str, str]:
    """Take back what keeps commands of agents from waiting for somebody."""
    pager = {"PAGER": "less", "GIT_PAGER": "less"} if Path(_PAGER).exists() else {}
    return {"GIT_TERMINAL_PROMPT": "1", "OPENCODE_TERMINAL": "1", **pager}


def _overlay(location: TerminalLocation) -> dict[str, str]:
    if not settings.TERMINAL_ENVIRONMENT:
        return {}
    added = import_string(settings.TERMINAL_ENVIRONMENT)(location)
    return {str(name): str(value) for name, value in added.items()}
