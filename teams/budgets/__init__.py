"""What may be spent, and how far that is: `standings` for one call, `all_standings` for everybody.

    spending, reasons  ->  standings  ->  all_standings, forecast, requests

Reads only; `teams.actions` reserve and change. It must not be told of sessions and projects.
"""

from __future__ import annotations

from teams.budgets.standings import (
    MONTHLY,
    OF_PEOPLE,
    BudgetReached,
    Limit,
    Scope,
    Standing,
    budgets_for,
    hard,
    is_monthly,
    load_standings,
    month_start,
    next_month,
    reached,
    require_funds,
    standings_of,
    why_not,
)

__all__ = [
    "MONTHLY",
    "OF_PEOPLE",
    "BudgetReached",
    "Limit",
    "Scope",
    "Standing",
    "budgets_for",
    "hard",
    "is_monthly",
    "load_standings",
    "month_start",
    "next_month",
    "reached",
    "require_funds",
    "standings_of",
    "why_not",
]
