"""How the calls of this process to each provider have ended within the last hour.

Only numbers and the classes of errors; lost with the process, which tells them with its heartbeat.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import exp2, log2

_MINUTE_S = 60
_MINUTES = 60
# How long it took until an answer began is counted by the powers of two in it, as `first 2^…` ms:
# a median within a third is enough to see that a provider is slow.
_FIRST = "first 2^"
_STEPS = 2
# Of one account; no provider's id begins so.
_ACCOUNT = "#"

# By the minute: one for each provider and outcome that there was. A call that ended well is "".
Tally = Mapping[str, Mapping[str, int]]
Source = Callable[[], Iterable[Tally]]
_sources: list[Source] = []
_minutes: dict[int, Counter[tuple[str, str]]] = defaultdict(Counter)


@dataclass(frozen=True, slots=True)
class Hour:
    """How the calls of a provider have ended; `errors` by class, the most first."""

    calls: int = 0
    errors: tuple[tuple[str, int], ...] = ()
    # Until an answer began, the median. None when there was none.
    first_ms: int | None = None

    @property
    def failed(self) -> int:
        return sum(number for _, number in self.errors)


def note_call(
    provider_id: str, *, account_id: int | None = None, error: str = "", first_s: float = 0.0
) -> None:
    """Count a call that has ended. `error` is the name of the error's class."""
    now = _now()
    if now not in _minutes:
        for old in [minute for minute in _minutes if minute <= now - _MINUTES]:
            del _minutes[old]
    counts = _minutes[now]
    for name in (provider_id, *(() if account_id is None else (_account(account_id),))):
        counts[name, error] += 1
        if not error:
            counts[name, f"{_FIRST}{_step_of(first_s * 1000)}"] += 1


def last_hour() -> dict[str, dict[str, int]]:
    """Returns: by provider and account how many calls ended how, those that ended well as ""."""
    since = _now() - _MINUTES
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for minute, counts in list(_minutes.items()):
        if minute > since:
            for (provider, error), number in list(counts.items()):
                found[provider][error] += number
    return {provider: dict(counts) for provider, counts in found.items()}


def add_up(tallies: Iterable[Tally]) -> dict[str, Hour]:
    """Returns: what several processes have counted (`last_hour`), by provider in order."""
    ended: dict[str, Counter[str]] = {}
    for tally in tallies:
        for name, counts in tally.items():
            if not name.startswith(_ACCOUNT):
                ended.setdefault(name, Counter()).update(counts)
    return {name: _hour(counts) for name, counts in sorted(ended.items())}


def read_tallies_from(source: Source) -> None:
    """Have `account_hours` read there what all processes have counted."""
    _sources[:] = [source]


def account_hours() -> dict[int, Hour]:
    """Returns: how the calls with each account have ended, by its id. One query."""
    ended: dict[int, Counter[str]] = defaultdict(Counter)
    for source in _sources or (lambda: [last_hour()],):
        for tally in source():
            for name, counts in tally.items():
                if name.startswith(_ACCOUNT):
                    ended[int(name.removeprefix(_ACCOUNT))].update(counts)
    return {account_id: _hour(counts) for account_id, counts in ended.items()}


def _account(account_id: int) -> str:
    return f"{_ACCOUNT}{account_id}"


def _hour(counts: Counter[str]) -> Hour:
    firsts = {key: number for key, number in counts.items() if key.startswith(_FIRST)}
    errors = [(key, n) for key, n in counts.most_common() if key and key not in firsts]
    calls = counts[""] + sum(number for _, number in errors)
    return Hour(calls, tuple(errors), _median_ms(firsts))


def _step_of(milliseconds: float) -> int:
    return max(0, round(_STEPS * log2(max(milliseconds, 1.0))))


def _median_ms(firsts: Mapping[str, int]) -> int | None:
    steps = sorted((int(key.removeprefix(_FIRST)), number) for key, number in firsts.items())
    left = (sum(number for _, number in steps) + 1) // 2
    for step, number in steps:
        left -= number
        if left <= 0:
            return round(exp2(step / _STEPS))
    return None


def _now() -> int:
    return int(time.monotonic() // _MINUTE_S)
