"""How an account is doing: its last hour, what is left alone of it, and who waits for it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count
from django.utils import timezone

from opencode_web.lib.metrics import Gauge
from providers.models import Credential, KeyUse, ProviderConfig
from providers.tally import Hour


@dataclass(frozen=True)
class Condition:
    """`paused_until`: no call is made before, as the last ones have failed with `failure`."""

    hour: Hour = field(default_factory=Hour)
    paused_until: datetime | None = None
    failures: int = 0
    failure: str = ""

    @property
    def percent(self) -> int:
        """How many of the calls have failed."""
        return round(100 * self.hour.failed / self.hour.calls) if self.hour.calls else 0


def condition_of(row: ProviderConfig, hours: dict[int, Hour]) -> Condition:
    """Returns: how an account is doing. `hours` as of `account_hours`."""
    hour, now = hours.get(row.pk, Hour()), timezone.now()
    keys = row.keys
    # Of several keys, one that works is enough.
    resting = [row] if _rests(row, now) else [key for key in keys if _rests(key, now)]
    if not resting or (resting[0] is not row and len(resting) < len(keys)):
        return Condition(hour)
    first = min(resting, key=lambda one: one.open_until or now)
    return Condition(hour, first.open_until, first.failures, first.failure)


def resting_accounts() -> dict[str, int]:
    """Returns: by provider how many accounts are not called now for their address. One query."""
    open_rows = ProviderConfig.objects.filter(open_until__gt=timezone.now())
    return dict(open_rows.values_list("provider_id").annotate(Count("pk")))


def provider_gauges() -> list[Gauge]:
    """What a scrape reads of the accounts: three queries."""
    keys = Credential.objects.filter(open_until__gt=timezone.now())
    by_key = keys.values_list("provider__provider_id").annotate(Count("pk"))
    circuits: dict[tuple[str, ...], float] = {
        (name, "address"): float(count) for name, count in resting_accounts().items()
    }
    circuits |= {(name, "key"): float(count) for name, count in by_key}
    uses: Counter[tuple[str, ...]] = Counter(
        (name, "running" if started else "waiting")
        for name, started in KeyUse.objects.filter(
            ended_at=None, alive_until__gt=timezone.now()
        ).values_list("account__provider_id", "started_at")
    )
    return [
        Gauge(
            "provider_circuits_open",
            "Accounts and keys that are not called now, because their last calls have failed.",
            ("provider", "part"),
            circuits,
        ),
        Gauge(
            "provider_calls_in_line",
            "Calls with keys that have limits, and turns that wait for one.",
            ("provider", "state"),
            {labels: float(count) for labels, count in uses.items()},
        ),
    ]


def _rests(row: ProviderConfig | Credential, now: datetime) -> bool:
    return row.open_until is not None and row.open_until > now
