"""What people have answered when a call asked, for the rows of those calls."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from sessions.models import PermissionRequest, QuestionRequest

_SAID = {
    "once": "Allowed once by {}",
    "always": "Always allowed by {}",
    "reject": "Rejected by {}",
    "expired": "Nobody answered in time",
}
_SAID_TO_QUESTION = {
    "answered": "Answered by {}",
    "reject": "Dismissed by {}",
    "expired": "Nobody answered in time",
}


@dataclass(frozen=True)
class Decision:
    """`said` is empty when the turn was stopped before anybody answered."""

    said: str
    rejected: bool
    message: str
    asked: datetime
    answered: datetime


# By message id and call id, which models repeat in other messages.
Decisions = Mapping[tuple[str, str], list[Decision]]


def load_decisions(message_ids: Collection[str]) -> Decisions:
    """Returns: the answered requests of these messages, in the order they were asked."""
    permissions = PermissionRequest.objects.filter(
        message_id__in=message_ids, replied_at__isnull=False
    ).select_related("replied_by")
    questions = QuestionRequest.objects.filter(
        message_id__in=message_ids, replied_at__isnull=False
    ).select_related("replied_by")
    rows: list[PermissionRequest | QuestionRequest] = [*permissions, *questions]
    found: dict[tuple[str, str], list[Decision]] = {}
    for row in sorted(rows, key=lambda row: (row.created_at, row.pk)):
        found.setdefault((row.message_id, row.call_id), []).append(_decision(row))
    return found


def _decision(row: PermissionRequest | QuestionRequest) -> Decision:
    by = row.replied_by.display_name if row.replied_by else "somebody"
    said = _SAID_TO_QUESTION if isinstance(row, QuestionRequest) else _SAID
    return Decision(
        said=said.get(row.status, "").format(by),
        rejected=row.status in ("reject", "expired"),
        message="" if isinstance(row, QuestionRequest) else row.feedback,
        asked=row.created_at,
        answered=row.replied_at or row.created_at,
    )


def waited_s(decisions: Decisions) -> float:
    """For how long at least one of them waited for a person. Units: seconds."""
    total, reached = 0.0, None
    every = [decision for group in decisions.values() for decision in group]
    for one in sorted(every, key=lambda decision: decision.asked):
        start = one.asked if reached is None else max(one.asked, reached)
        if one.answered > start:
            total += (one.answered - start).total_seconds()
            reached = one.answered
    return total
