"""What a terminal has in its environment beside what the sandbox sets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from django.conf import settings
from django.utils.module_loading import import_string

from opencode_web.lib.plugins.calls import HookFailed, ask_hook_now, refuse_result
from opencode_web.lib.plugins.loading import active_hooks
from opencode_web.lib.plugins.values import TerminalLocation
from sessions.models import Terminal

_PAGER = "/usr/bin/less"


def terminal_environment(terminal: Terminal, given: Mapping[str, str]) -> dict[str, str]:
    """Build it: a person sits there, then what the client gave, then plugins, then the host's
    overlay.

    `TERMINAL_ENVIRONMENT` names the overlay's function. It is called for every terminal, in a
    worker, and may block. What it raises keeps the terminal from starting; what a plugin raises
    only keeps out its own variables.
    """
    location = location_of(terminal)
    return {**_for_people(), **given, **_of_plugins(location), **_overlay(location)}


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


def _of_plugins(location: TerminalLocation) -> dict[str, str]:
    added: dict[str, str] = {}
    for hook in active_hooks("terminal_environment"):
        try:
            found = ask_hook_now(hook, {"terminal": location})
            if not isinstance(found, Mapping):
                raise refuse_result(hook, "returned no variables")
            own = {str(name): str(value) for name, value in found.items()}
            if any(not name or "=" in name or "\0" in name + value for name, value in own.items()):
                raise refuse_result(hook, "returned what no variable can be")
        except HookFailed:
            continue  # it is counted and in the log
        added |= own
    return added
