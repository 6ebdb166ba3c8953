"""How long a server is waited for. Source: behaviour facts 7.2 for most of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Patience:
    """Units: seconds."""

    start_s: float = 45.0
    """Until a server that was started has introduced itself; else it is ended."""
    request_s: float = 30.0
    """Until it has answered a question of an agent."""
    ready_s: float = 10.0
    """So long an edit waits for a server that is just starting."""
    found_s: float = 5.0
    """So long an edit waits for what a server finds."""
    pull_s: float = 3.0
    """Of that for the answer, when it has to be asked for what it finds."""
