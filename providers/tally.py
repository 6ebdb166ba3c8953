"""How the calls of this process to each provider have ended within the last hour.

Only numbers and the classes of errors; lost with the process, which tells them with its heartbeat.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict

_MINUTE_S = 60
_MINUTES = 60

# By the minute: one for each provider and outcome that there was. A call that ended well is "".
_minutes: dict[int, Counter[tuple[str, str]]] = defaultdict(Counter)


def note_call(provider_id: str, *, error: str = "") -> None:
    """Count a call that has ended. `error` is the name of the error's class."""
    now = _now()
    _minutes[now][provider_id, error] += 1
    for old in [minute for minute in _minutes if minute <= now - _MINUTES]:
        del _minutes[old]


def last_hour() -> dict[str, dict[str, int]]:
    """Returns: by provider how many calls ended how, those that ended well as ""."""
    since = _now() - _MINUTES
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for minute, counts in list(_minutes.items()):
        if minute > since:
            for (provider, error), number in list(counts.items()):
                found[provider][error] += number
    return {provider: dict(counts) for provider, counts in found.items()}


def _now() -> int:
    return int(time.monotonic() // _MINUTE_S)
