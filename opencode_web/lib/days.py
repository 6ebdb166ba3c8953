"""Days and times of the server: all of them are those of UTC."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta


def start_of(day: date) -> datetime:
    """Returns: the first moment of a day."""
    return datetime.combine(day, time(), UTC)


def end_of(day: date) -> datetime:
    """Returns: the first moment after a day."""
    return start_of(day) + timedelta(days=1)


def age_s(since: datetime | None, now: datetime) -> float:
    """Returns: for how long something has lasted, in seconds; 0 where it is not so."""
    return max(0.0, (now - since).total_seconds()) if since else 0.0
