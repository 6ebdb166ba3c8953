"""What the writers of answers have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from opencode_web.lib.ids import new_id
from sessions.models import OutsideReply


@dataclass(frozen=True)
class Step:
    """What was done about an answer: whether it was the last of it, or when to look `again`.

    With neither, what happens in the session makes it due.
    """

    is_last: bool = False
    again_s: int = 0


def begin_reply(**fields: Any) -> None:  # Any: as the fields of its row are
    """Have it written as soon as can be."""
    now = timezone.now()
    OutsideReply.objects.create(id=new_id("rep"), next_at=now, created_at=now, **fields)


def is_again(row: OutsideReply) -> bool:
    """Whether it may have been written by an attempt whose end nobody knows."""
    return row.attempts > 1 or bool(row.problem)


def note(row: OutsideReply, **data: str) -> None:
    """Keep how far an answer is, with what it is on the forge."""
    row.data = {**row.data, **data}
    OutsideReply.objects.filter(pk=row.pk).update(data=row.data, comment=row.comment)
