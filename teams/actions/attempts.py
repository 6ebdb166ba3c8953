"""Limits on guessing passwords, tokens and the secrets of links.

What is counted is an address and the account it tries, so that nobody can lock an account out from
elsewhere, and colleagues behind one address cannot lock each other out. Behind that is a much
higher limit for an address that tries many accounts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import ngettext

from opencode_web.lib.addresses import client_network
from opencode_web.lib.crypto import fingerprint, fingerprints
from opencode_web.lib.errors import TooManyRequests
from teams.audit import AuditAction, record
from teams.models import FailedAttempt, User

Kind = FailedAttempt.Kind


@dataclass(frozen=True)
class Limit:
    """`free` failures cost nothing; each further one doubles the wait. One is forgotten every
    `forget_s`."""

    free: int
    first_wait_s: int
    forget_s: int

    def left(self, failures: float, *, since_s: float) -> float:
        """Returns: what counts of failures after some time without another one."""
        return max(0.0, failures - max(0.0, since_s) / self.forget_s)

    def wait_s(self, failures: float) -> int:
        """Returns: how long the next attempt has to wait after so many failures."""
        # Rounded: between attempts in a row a little has been forgotten already.
        beyond = round(failures) - self.free
        return min(MAX_WAIT_S, self.first_wait_s * 2 ** min(beyond, 20)) if beyond >= 0 else 0


MAX_WAIT_S = 3600
OF_ACCOUNT = Limit(free=5, first_wait_s=30, forget_s=7200)
# An office of hundreds behind one address forgets some passwords, too.
OF_ADDRESS = Limit(free=100, first_wait_s=60, forget_s=30)
_KEPT_FOR = timedelta(days=2)


@transaction.atomic
def count_attempt(kind: Kind, *, address: str | None, account: str = "") -> None:
    """Count an attempt as failed, until `forgive_attempt` says otherwise.

    To be called before a password is checked, so that of many at once no more get through.

    Raises: TooManyRequests, with `retryAfter` in seconds, without counting it.
    """
    now = timezone.now()
    # In this order, so that two at once wait for each other instead of locking each other out.
    rows = [(_lock(kind, name, key, now), limit) for name, key, limit in _keys(address, account)]
    free_at = max((row.blocked_until for row, _ in rows if row.blocked_until), default=now)
    if free_at > now:
        wait_s = math.ceil((free_at - now).total_seconds())
        raise TooManyRequests(_refusal(wait_s), retryAfter=wait_s)
    for row, limit in rows:
        since_s = (now - row.failed_at).total_seconds()
        row.failures = limit.left(row.failures, since_s=since_s) + 1
        row.failed_at = now
        wait_s = limit.wait_s(row.failures)
        row.blocked_until = now + timedelta(seconds=wait_s) if wait_s else None
        row.save(update_fields=["failures", "failed_at", "blocked_until"])


@transaction.atomic
def forgive_attempt(kind: Kind, *, address: str | None, account: str) -> None:
    """Take back the last count of an attempt that was good, and what the account has failed."""
    for name, key, limit in _keys(address, account):
        rows = FailedAttempt.objects.filter(kind=kind, address=name, account=key)
        if key:
            rows.update(failures=0, blocked_until=None)
            continue
        row = rows.select_for_update().first()
        if row is not None:
            row.failures = max(0.0, row.failures - 1)
            if not limit.wait_s(row.failures):
                row.blocked_until = None
            row.save(update_fields=["failures", "blocked_until"])


@transaction.atomic
def unlock_account(user: User, *, actor: User | None, ip: str | None = None) -> int:
    """Let somebody sign in again at once. Returns: how many addresses had to wait."""
    rows = FailedAttempt.objects.filter(account__in=fingerprints(user.email.lower()))
    blocked = rows.filter(blocked_until__gt=timezone.now()).update(failures=0, blocked_until=None)
    record(AuditAction.USER_UNLOCKED, actor=actor, team=None, target=user, ip=ip)
    return blocked


def prune_attempts() -> int:
    """Remove what has been forgotten. Returns: how many rows."""
    return FailedAttempt.objects.filter(failed_at__lt=timezone.now() - _KEPT_FOR).delete()[0]


def _keys(address: str | None, account: str) -> list[tuple[str, str, Limit]]:
    """Of a request without an address (a UNIX socket) only the account counts."""
    name = client_network(address or "")
    keys = [(name, fingerprint(account.strip().lower()), OF_ACCOUNT)] if account else []
    return [*keys, (name, "", OF_ADDRESS)] if name else keys


def _lock(kind: Kind, address: str, account: str, now: datetime) -> FailedAttempt:
    key = {"kind": kind, "address": address, "account": account}
    FailedAttempt.objects.get_or_create(**key, defaults={"failed_at": now})
    return FailedAttempt.objects.select_for_update().get(**key)


def _refusal(wait_s: int) -> str:
    minutes = math.ceil(wait_s / 60)
    return ngettext(
        "Too many failed attempts. Try again in a minute.",
        "Too many failed attempts. Try again in %(minutes)d minutes.",
        minutes,
    ) % {"minutes": minutes}
