"""Which chains of the audit log have something to be sent, and how far each was."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Min, OuterRef, Q, Subquery
from django.utils import timezone

from sessions.actions.deliveries import note_health
from sessions.events.outbox import Happening
from sessions.models import AuditCursor, Webhook
from teams.audit_chain.verify import entries_of
from teams.models import AuditEntry, AuditHead

# The operators' stream, which gets every chain from its beginning.
SERVER_STREAM = "server"
BATCH = 100
# Longer than it takes to send a batch: then its worker is taken to be dead.
CLAIMED_FOR = timedelta(seconds=120)
_MAX_WAIT_S = 300


@dataclass(frozen=True)
class Claimed:
    """Entries of one chain for one receiver, the oldest first. `secret` is still encrypted."""

    cursor_id: int
    stream: str
    url: str
    secret: str
    entries: list[AuditEntry]


def claim_entries() -> list[Claimed]:
    """Take what is due. Nobody else sends for these chains until it is settled."""
    _follow_all()
    now = timezone.now()
    heads = AuditHead.objects.filter(pk=OuterRef("chain")).values("seq")[:1]
    due = AuditCursor.objects.annotate(end=Subquery(heads)).filter(
        next_at__lte=now, seq__lt=F("end")
    )
    claimed = []
    for cursor in due.order_by("next_at"):
        receiver = _receiver_of(cursor)
        mine = AuditCursor.objects.filter(pk=cursor.pk, next_at=cursor.next_at)
        if receiver is not None and mine.update(next_at=now + CLAIMED_FOR):
            rows = entries_of(cursor.chain).filter(seq__gt=cursor.seq).order_by("seq")[:BATCH]
            claimed.append(Claimed(cursor.pk, cursor.stream, *receiver, list(rows)))
    return claimed


@transaction.atomic
def settle_entries(claimed: Claimed, *, sent: int, problem: str) -> None:
    """Write down how far it came. What has failed is tried again, before anything newer."""
    # The webhook first, as whoever changes it locks them.
    hooks = Webhook.objects.select_for_update(no_key=True, of=("self",)).select_related("team")
    hook = hooks.filter(pk=claimed.stream).first()
    cursor = AuditCursor.objects.select_for_update().filter(pk=claimed.cursor_id).first()
    if cursor is None:
        return
    now = timezone.now()
    if sent:
        cursor.seq = max(cursor.seq, claimed.entries[sent - 1].seq or 0)
    cursor.attempts = cursor.attempts + 1 if problem else 0
    cursor.problem = problem[:300]
    wait_s = min(_MAX_WAIT_S, 2 ** min(cursor.attempts, 9)) if problem else 0
    cursor.next_at = now + timedelta(seconds=wait_s)
    cursor.save()
    if hook is not None:
        note_health(hook, now, failed=bool(problem))


def sent_until(chain: str) -> int | None:
    """Returns: the last entry that everybody has who follows the chain; None without any.

    A webhook that is switched off does not count: it may stay so for good.
    """
    live = Webhook.objects.filter(disabled_at=None).values("pk")
    cursors = AuditCursor.objects.filter(Q(stream__in=live) | Q(stream=SERVER_STREAM), chain=chain)
    end: int | None = cursors.aggregate(Min("seq"))["seq__min"]
    return end


def _follow_all() -> None:
    if not settings.AUDIT_STREAM_URL:
        return
    known = AuditCursor.objects.filter(stream=SERVER_STREAM).values("chain")
    new = AuditHead.objects.exclude(pk__in=known).values_list("pk", flat=True)
    AuditCursor.objects.bulk_create(
        (AuditCursor(stream=SERVER_STREAM, chain=chain) for chain in new), ignore_conflicts=True
    )


def _receiver_of(cursor: AuditCursor) -> tuple[str, str] | None:
    """Returns: the address and the secret; None for one that is switched off."""
    if cursor.stream == SERVER_STREAM:
        url = settings.AUDIT_STREAM_URL
        return (url, settings.AUDIT_STREAM_SECRET) if url else None
    hook = Webhook.objects.filter(pk=cursor.stream, disabled_at=None).first()
    if hook is None or Happening.AUDIT not in hook.events:
        return None
    return hook.url, hook.secret
