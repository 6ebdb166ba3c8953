"""What becomes of deliveries: taken by one worker, sent, and tried again for a day."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject
from opencode_web.lib.signed_posts import Result
from sessions.actions.webhooks import disable_webhook
from sessions.models import (
    InboundDelivery,
    Notification,
    OutsideReply,
    Receiver,
    Webhook,
    WebhookDelivery,
)
from teams.audit import AuditAction, record

# Longer than an attempt can take: then its worker is taken to be dead.
CLAIMED_FOR = timedelta(seconds=60)
# After each failed attempt; about a day in all.
BACKOFF_S = (10, 30, 60, 300, 900, 1800, 3600, 7200, 14400, 21600, 28800)
DISABLED_AFTER = timedelta(days=3)
KEPT_FOR = timedelta(days=14)
BATCH, _BATCHES = 20, 10
_PENDING = WebhookDelivery.State.PENDING
_Claimed = TypeVar("_Claimed")


@dataclass(frozen=True)
class Claimed:
    """One attempt at a delivery."""

    id: str
    webhook_id: str
    event: str
    url: str
    # Still encrypted.
    secret: str
    payload: JsonObject
    attempt: int


def claim_deliveries(limit: int) -> list[Claimed]:
    """Take deliveries that are due. Nobody else has them until CLAIMED_FOR is over."""
    due = WebhookDelivery.objects.filter(state=_PENDING).select_related("webhook")
    now = timezone.now()
    taken = claim_due(due.order_by("next_at"), limit, lasts=CLAIMED_FOR, attempted_at=now)
    return list(map(_to_claimed, taken))


async def work_through(
    claim: Callable[[], list[_Claimed]], work: Callable[[_Claimed], Awaitable[None]]
) -> int:
    """Do what is due, so much at a time. Returns: how many were tried."""
    count = 0
    for _ in range(_BATCHES):
        claimed = await in_db(claim)
        # Together: a server that does not answer holds up nobody else, and no claim runs out.
        await asyncio.gather(*map(work, claimed))
        count += len(claimed)
        if not claimed:
            break
    return count


_Row = TypeVar("_Row", WebhookDelivery, InboundDelivery, OutsideReply, Notification)


def claim_due(due: QuerySet[_Row], limit: int, *, lasts: timedelta, **also: object) -> list[_Row]:
    """Take the first rows whose `next_at` has come, and count an attempt at each.

    Nobody else has them until the claim is over. `also` are other columns to set.
    Returns: those that were still there to be taken, with the number of this attempt.
    """
    now = timezone.now()
    taken = []
    for row in due.filter(next_at__lte=now)[:limit]:
        mine = type(row).objects.filter(pk=row.pk, state=row.state, next_at=row.next_at)
        if mine.update(next_at=now + lasts, attempts=F("attempts") + 1, **also):
            row.attempts += 1
            taken.append(row)
    return taken


@transaction.atomic
def settle_delivery(claimed: Claimed, result: Result) -> None:
    """Write down how the attempt ended, and when the next one is due.

    A webhook that nothing reached for DISABLED_AFTER is switched off.
    """
    # The webhook first, as whoever switches it off locks them.
    hooks = Webhook.objects.select_for_update(no_key=True, of=("self",)).filter(
        pk=claimed.webhook_id
    )
    hook = hooks.select_related("team").first()
    row = WebhookDelivery.objects.select_for_update().filter(pk=claimed.id).first()
    # Gone with its webhook, switched off meanwhile, or another attempt has begun.
    if hook is None or row is None or row.state != _PENDING or row.attempts != claimed.attempt:
        return
    now = timezone.now()
    row.status, row.problem = result.status, result.problem[:300]
    if not result.problem:
        row.state = WebhookDelivery.State.DELIVERED
    elif claimed.attempt > len(BACKOFF_S):
        row.state = WebhookDelivery.State.FAILED
    else:
        row.next_at = now + timedelta(seconds=BACKOFF_S[claimed.attempt - 1])
    row.save(update_fields=["status", "problem", "state", "next_at"])
    note_health(hook, now, failed=bool(result.problem))


def prune_deliveries() -> int:
    """Remove what is old. Returns: how many."""
    old = WebhookDelivery.objects.filter(created_at__lt=timezone.now() - KEPT_FOR)
    return old.exclude(state=_PENDING).delete()[0]


def _to_claimed(row: WebhookDelivery) -> Claimed:
    hook = row.webhook
    return Claimed(
        id=row.pk,
        webhook_id=hook.pk,
        event=row.event,
        url=hook.url,
        secret=hook.secret,
        payload=row.payload,
        attempt=row.attempts,
    )


def note_arrival(row: Receiver, now: datetime, *, failed: bool) -> bool:
    """Keep since when nothing arrives. Returns: whether it is to be switched off now."""
    since = row.failing_since
    if failed != (since is not None):
        row.failing_since = now if failed else None
        row.save(update_fields=["failing_since"])
    is_long = since is not None and now - since >= DISABLED_AFTER
    return failed and is_long and row.disabled_at is None


def note_health(hook: Webhook, now: datetime, *, failed: bool) -> None:
    """Keep since when nothing arrives, and switch it off in the end. Needs a transaction."""
    if not note_arrival(hook, now, failed=failed):
        return
    disable_webhook(hook, f"Nothing could be delivered for {DISABLED_AFTER.days} days.")
    record(
        AuditAction.WEBHOOK_DISABLED,
        actor=None,
        team=hook.team,
        target=hook,
        data={"reason": hook.disabled_reason},
    )
