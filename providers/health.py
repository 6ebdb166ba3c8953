"""When an address or a key is not used for a while, because calls with it have failed.

    closed ─ failures in a row ─▶ open until a moment ─▶ half open: one call ─┬─ went well ─▶ closed
                                   ▲                                          │
                                   └─────────────── for longer ───────────────┘ failed

An account's address and each of its keys have a circuit of their own, in columns of their rows,
which all processes read with the account. A call that goes well writes nothing unless there were
failures. What could be a fault of the request alone (too long, refused, malformed) counts against
neither. What one team alone has met closes nothing to those with whom it shares an account of the
instance, unless the key itself was refused. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from http import HTTPStatus
from math import ceil
from typing import Protocol

from providers.llm.errors import (
    AuthError,
    NetworkError,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    ServerError,
)
from providers.llm.messages import Timeouts
from providers.reasons import ProviderReason

# Failures in a row that open a circuit: those of an address, of the only key, of one of several.
MAX_FAILURES = 5
# How long it stays open for the first time; twice as long each time after that, up to the most.
FIRST_REST_S = 30.0
MAX_REST_S = 600.0
# Of several keys, one that was refused for having done too much is left alone for so long.
SHORT_REST_S = 10.0
# Within that the call that tries a half-open circuit has to end, or another one tries.
PROBE_S = 60.0


class HasCircuit(Protocol):
    """A row of `providers.models.Circuit`."""

    pk: int
    failures: int
    failure: str
    open_until: datetime | None


class Part(StrEnum):
    """What a circuit is of."""

    ADDRESS = "address"
    KEY = "key"


@dataclass(frozen=True, slots=True)
class Fault:
    """A circuit with failures, as it was read. `failure` is the class of the newest."""

    part: Part
    id: int
    failures: int
    failure: str
    open_until: datetime | None

    def is_open(self, now: datetime) -> bool:
        return self.open_until is not None and self.open_until > now


def faults_of(part: Part, row: HasCircuit) -> tuple[Fault, ...]:
    """Returns: the circuit of a row, if calls with it have failed."""
    if not row.failures:
        return ()
    return (Fault(part, row.pk, row.failures, row.failure, row.open_until),)


class AddressResting(ServerError):
    """The address has failed too often to be asked now. Nothing was sent."""


class KeyResting(AuthError):
    """The key was refused too often to be used now. Nothing was sent."""

    advice = None
    wire_name = ProviderError.wire_name


class OtherKey(RateLimited):
    """The key was refused, and the account has others: the next try is made with one of them."""


def resting(fault: Fault, *, name: str, now: datetime) -> ProviderError:
    """Returns: why no call is made. `name` is the provider's."""
    left_s = (fault.open_until - now).total_seconds() if fault.open_until else 0.0
    # Another call tries it just now.
    seconds = ceil(left_s if left_s > 0 else FIRST_REST_S)
    is_key = fault.part is Part.KEY
    return (KeyResting if is_key else AddressResting)(
        reason=ProviderReason.KEY_RESTING if is_key else ProviderReason.RESTING,
        values={"name": name, "count": fault.failures, "why": fault.failure, "seconds": seconds},
        retry_after_s=float(seconds),
    )


def blamed(error: ProviderError, *, others: int) -> Part | None:
    """Returns: what an error speaks against. `others`: further keys that could be used instead."""
    match error:
        case AddressResting() | KeyResting() | OtherKey():
            return None
        case AuthError() | QuotaExceeded():
            return Part.KEY
        case RateLimited():
            return Part.KEY if others else None
        case ServerError() | NetworkError():
            return Part.ADDRESS
        case _:
            return None


def is_sure(error: ProviderError) -> bool:
    """Whether the key itself was refused, whatever the request has asked for."""
    is_refused = isinstance(error, AuthError) and error.status_code == HTTPStatus.UNAUTHORIZED
    return is_refused and "model" not in error.message.lower()


def is_hurried(error: ProviderError, chosen: Timeouts, *, usual_s: float) -> bool:
    """Whether a connection may have failed only because settings have given it less time."""
    times = (chosen.header, chosen.idle, chosen.total)
    return isinstance(error, NetworkError) and any(one and one < usual_s for one in times)


def next_opening(
    part: Part, failures: int, error: ProviderError, *, others: int, now: datetime
) -> datetime | None:
    """Returns: until when a circuit is open after so many failures; None while it stays closed."""
    if isinstance(error, RateLimited):
        rest_s = error.retry_after_s or SHORT_REST_S
        return now + timedelta(seconds=min(rest_s, MAX_REST_S))
    most = 1 if part is Part.KEY and others else MAX_FAILURES
    if failures < most:
        return None
    rest_s = FIRST_REST_S * 2.0 ** min(failures - most, 10)
    return now + timedelta(seconds=min(rest_s, MAX_REST_S))
