"""How much of the server one team may use at the same time, so that others get their share.

The settings of the server count, unless operators have said something else for a team.
"""

from __future__ import annotations

from django.conf import settings

from teams.models import Team


def most_turns(own: int | None) -> int | None:
    """`own`: `Team.max_turns`. Returns: how many turns may run; None for any number."""
    return own or settings.TURNS_PER_TEAM or None


def most_commands(team: Team) -> int | None:
    """Returns: how many of its commands may run; None for any number."""
    return team.max_commands or settings.COMMANDS_PER_TEAM or None


def most_terminals(team: Team) -> int:
    """Returns: how many terminals its people may have open together."""
    return settings.TERMINALS_PER_TEAM if team.max_terminals is None else team.max_terminals


def most_disk_mb(team: Team) -> int | None:
    """Returns: how many MB the files of its projects may take up; None for any number."""
    return team.max_disk_mb or settings.DISK_PER_TEAM_MB or None
