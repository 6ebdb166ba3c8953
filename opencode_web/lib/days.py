"""Days of the server: all of them are those of UTC, like its times."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta


def start_of(day: date) -> datetime:
    """Returns: the first moment of a day."""
    return datetime.combine(day, time(), UTC)


def end_of(day: date) -> datetime:
    """Returns: the first moment after a day."""
    return start_of(day) + timedelta(days=1)
