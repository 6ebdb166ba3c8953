"""What pages say about a chain: up to where it was checked, and what is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from teams.models import AuditHead, SignedHead


@dataclass(frozen=True)
class ChainState:
    """`verified` is the number of the last entry that was checked and signed, 0 for none yet."""

    seq: int
    verified: int
    verified_at: datetime | None
    problem: str


def state_of(chain: str) -> ChainState:
    """Returns: what the last daily check has left."""
    head = AuditHead.objects.filter(pk=chain).first() or AuditHead(pk=chain)
    signed = SignedHead.objects.filter(chain=chain).order_by("-seq", "-pk").first()
    return ChainState(
        head.seq, signed.seq if signed else 0, signed.time if signed else None, head.problem
    )


def broken_chains() -> list[AuditHead]:
    """Returns: the chains in which the last check has found something wrong."""
    return list(AuditHead.objects.exclude(problem="").order_by("chain"))
