"""What the server itself does with the audit trail: sign its chains, and remove what is old."""

from __future__ import annotations

import logging
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from opencode_web.lib.json import JsonObject
from teams.audit import AuditAction, record
from teams.audit_chain.heads import sign_head
from teams.audit_chain.verify import Report, entries_of, verify_chain
from teams.models import SERVER_CHAIN, AuditEntry, AuditHead, SignedHead, Team
from teams.retention.holds import first_held_entry

logger = logging.getLogger(__name__)

# Nobody waits for it, and no transaction should hold that many rows.
PRUNE_BATCH = 5000


def sign_heads() -> None:
    """Check what every chain has got since it was last signed, and sign its end once a day."""
    today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    signed = SignedHead.objects.order_by().values("chain").filter(time__gte=today)
    for chain in AuditHead.objects.exclude(chain__in=signed).values_list("chain", flat=True):
        sign_chain(chain)


def sign_chain(chain: str) -> Report:
    """Sign the end of a chain that is right; of another one keep what is wrong."""
    report = verify_chain(chain, recent_only=True)
    AuditHead.objects.filter(pk=chain).exclude(problem=report.problem[:300]).update(
        problem=report.problem[:300]
    )
    if report.problem:
        logger.error("audit.broken chain=%s problem=%s", chain, report.problem)
        return report
    if report.entries:
        head = sign_head(chain=chain, seq=report.seq, hash=report.hash, time=timezone.now())
        head.save(force_insert=True)
        _log(head)
    return report


def prune_entries(chain: str, *, before: datetime, until: int | None = None) -> int:
    """Remove the entries of a chain that are older, and leave a checkpoint from which on the rest
    still verifies. Those after `until` stay in any case, and those from the first on that is held.

    Returns: how many. Raises: BrokenChain, and removes nothing, when it is broken.
    """
    report = verify_chain(chain)
    if report.problem:
        raise BrokenChain(report.problem)
    entries = entries_of(chain)
    first_kept = entries.filter(time__gte=before).order_by("seq").first()
    old = entries.filter(seq__lte=report.seq if until is None else min(until, report.seq))
    if first_kept is not None:
        old = old.filter(seq__lt=first_kept.seq)
    held = first_held_entry(None if chain == SERVER_CHAIN else chain)
    if held is not None:
        old = old.filter(seq__lt=held)
    last = old.order_by("-seq").first()
    if last is None:
        return 0
    assert last.seq is not None
    with transaction.atomic():
        now = timezone.now()
        head = sign_head(chain=chain, seq=last.seq, hash=last.hash, time=now, is_checkpoint=True)
        head.save(force_insert=True)
        team = Team.objects.filter(pk=chain).first() if chain != SERVER_CHAIN else None
        if team is not None or chain == SERVER_CHAIN:
            data: JsonObject = {"until": last.seq, "count": old.count()}
            record(AuditAction.AUDIT_PRUNED, actor=None, team=team, data=data)
    _log(head)
    return _remove(old)


class BrokenChain(Exception):
    """Nothing is removed from a chain that does not verify: it would hide what is wrong."""


def _remove(old: QuerySet[AuditEntry]) -> int:
    """The checkpoint lets them be removed; a crash in between leaves some for the next time."""
    removed = 0
    while ids := list(old.order_by("seq").values_list("pk", flat=True)[:PRUNE_BATCH]):
        rows = AuditEntry.objects.filter(pk__in=ids)
        removed += rows._raw_delete(rows.db)
    return removed


def _log(head: SignedHead) -> None:
    """Into the log, which others keep than the database."""
    logger.info(
        "audit.signed chain=%s seq=%d hash=%s time=%s checkpoint=%d key=%s signature=%s",
        head.chain,
        head.seq,
        head.hash,
        head.time.isoformat(timespec="microseconds"),
        head.is_checkpoint,
        head.public_key,
        head.signature,
    )
