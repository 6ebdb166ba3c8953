"""Who is asked before models of a team's account come to cost something else."""

from __future__ import annotations

from collections.abc import Callable

from opencode_web.lib.json import JsonObject
from providers.models import ProviderConfig
from teams.models import User

# The locked account, what would be picked of it, None where it goes, and whose act it is.
Check = Callable[[ProviderConfig, JsonObject | None, User], None]
_checks: list[Check] = []


def before_prices(check: Check) -> None:
    """Have `check` called within the transaction. What it raises undoes the change."""
    if check not in _checks:
        _checks.append(check)


def check_prices(row: ProviderConfig, picked: JsonObject | None, actor: User | None) -> None:
    """Ask about a change that somebody makes; one that nobody makes is the server's own."""
    if actor is not None:
        for check in _checks:
            check(row, picked, actor)
