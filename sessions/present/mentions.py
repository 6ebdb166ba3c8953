"""What a person can name while they write: `@` files, folders and agents, and `/` commands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sessions.agents.loader import Agent
from sessions.commands.catalog import Command

MAX_SHOWN = 12


@dataclass(frozen=True)
class Mention:
    """`insert` takes the place of what was typed; `icon` is one of the sprite."""

    insert: str
    icon: str
    label: str
    detail: str = ""


def agent_mentions(agents: Iterable[Agent], typed: str) -> list[Mention]:
    """Those that a message can be handed to."""
    return [
        Mention(f"@{agent.name}", "bot", agent.name, agent.description or "Agent")
        for agent in agents
        if not agent.hidden and not agent.is_primary and agent.name.startswith(typed.lower())
    ]


def file_mentions(paths: Iterable[str]) -> list[Mention]:
    """Paths from the session's folder; those of folders end with a slash."""
    return [
        Mention(f"@{path}", "folder" if path.endswith("/") else "file-text", path)
        for path in paths
        # A blank would end the name.
        if not any(char.isspace() for char in path)
    ]


def command_mentions(commands: Iterable[Command], typed: str) -> list[Mention]:
    """Those whose name begins so come before those that only have it in them."""
    wanted = typed.lower()
    found = [one for one in commands if wanted in one.name.lower()]
    found.sort(key=lambda one: (not one.name.lower().startswith(wanted), one.name))
    return [
        Mention(f"/{one.name}", "terminal", f"/{one.name}", one.config.description or "")
        for one in found[:MAX_SHOWN]
    ]
