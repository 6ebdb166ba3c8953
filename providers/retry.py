"""When to ask a provider again, and how long to wait first. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from providers.errors import ProviderError

MAX_RETRIES = 5
FIRST_DELAY_S = 2.0
MAX_DELAY_S = 30.0
# A provider that asks for more than this has run out of quota in all but name; say so instead of
# waiting.
MAX_HONOURED_WAIT_S = 900.0


def is_retryable(error: ProviderError, *, attempt: int) -> bool:
    """Tell whether retry number `attempt` (from 1) may be made."""
    if attempt > MAX_RETRIES or not error.retryable:
        return False
    return (error.retry_after_s or 0) <= MAX_HONOURED_WAIT_S


def delay_s(attempt: int, *, error: ProviderError | None = None) -> float:
    """Return the wait before retry number `attempt` (from 1).

    Units: seconds. What the provider asked for wins; else 2, 4, 8 … up to 30.
    """
    if error is not None and error.retry_after_s is not None:
        return error.retry_after_s
    return float(min(FIRST_DELAY_S * 2 ** (attempt - 1), MAX_DELAY_S))


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
    return max(0.0, (moment - now).total_seconds())


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else None
    except ValueError:
        return None
    # NaN compares false with everything, so it falls out here too.
    return number if number is not None and 0 <= number < float("inf") else None
