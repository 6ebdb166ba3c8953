"""How long a turn has stood still because somebody was asked. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime


def seconds_waited(asked: Iterable[tuple[datetime, datetime]]) -> float:
    """`asked`: when each request was made and answered.

    Returns: for how long at least one of them waited. Units: seconds.
    """
    total, reached = 0.0, None
    for begin, end in sorted(asked):
        start = begin if reached is None else max(begin, reached)
        if end > start:
            total += (end - start).total_seconds()
            reached = end
    return total
