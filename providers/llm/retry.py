"""When to ask a provider again, and how long to wait first. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from .errors import ProviderError

MAX_TRIES = 6
FIRST_DELAY_S = 2.0
MAX_DELAY_S = 30.0
# So that those who failed together do not come back together.
MAX_JITTER = 0.25


def is_retryable(error: ProviderError, *, attempt: int) -> bool:
    """Tell whether another try may be made after number `attempt` (from 1) has failed."""
    return attempt < MAX_TRIES and error.retryable


def delay_s(attempt: int, *, error: ProviderError | None = None, jitter: float = 0) -> float:
    """Return the wait after try number `attempt` (from 1) has failed.

    `jitter` is a random number from 0 to 1.
    Units: seconds. What the provider asked for wins; else 2, 4, 8 … up to 30, and a bit.
    """
    if error is not None and error.retry_after_s is not None:
        return error.retry_after_s
    wait_s = FIRST_DELAY_S * 2 ** (attempt - 1) * (1 + MAX_JITTER * jitter)
    return float(min(wait_s, MAX_DELAY_S))


def parse_retry_after(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Read the wait a response asks for.

    Units: seconds, never negative. None when it asks for nothing we understand.
    Source: RFC 9110 10.2.3 (seconds or a date); `retry-after-ms` is OpenAI's and Anthropic's finer
    form.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    wait_s = (moment - now).total_seconds()
    return wait_s if wait_s > 0 else None


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else None
    except ValueError:
        return None
    # NaN compares false with everything, so it falls out here too.
    return number if number is not None and 0 <= number < float("inf") else None
