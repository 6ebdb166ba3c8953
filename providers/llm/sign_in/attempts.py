"""The state of a sign-in that has begun: how often to ask, and until when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from ..json import JsonObject
from .errors import Expired
from .grants import Pending

# Asking a little later than told is never too early, whatever the clocks and the way there do.
POLL_MARGIN_S = 3.0
DEFAULT_INTERVAL_S = 5.0


def number_in(state: JsonObject, name: str) -> float:
    """Returns: a number of an attempt's state."""
    value = state[name]
    assert isinstance(value, int | float)
    return float(value)


def require_open(state: JsonObject, now: datetime) -> None:
    """Raises: Expired for an attempt that is over."""
    if now.timestamp() >= number_in(state, "expires_at"):
        raise Expired


def pending(state: JsonObject, interval_s: float) -> Pending:
    """Returns: that the person is not done; `interval_s` holds from now on."""
    return Pending(interval_s + POLL_MARGIN_S, {**state, "interval_s": interval_s})


def in_seconds(lifetime_s: float | None) -> datetime | None:
    """Returns: when something ends; None for what does not."""
    return None if lifetime_s is None else datetime.now(UTC) + timedelta(seconds=lifetime_s)
