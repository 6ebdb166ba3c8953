"""What people have answered when a call asked, for the rows of those calls."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from opencode_web.lib.json import object_of, text_of
from sessions.events.reasons import CAUSE, TurnReason
from sessions.events.stored import StoredState
from sessions.models import PermissionRequest, QuestionRequest
from sessions.present.data import first_line
from sessions.present.stored_text import stored_text
from sessions.waited import seconds_waited

_SAID = {
    "once": gettext_noop("Allowed once by {name}"),
    "always": gettext_noop("Always allowed by {name}"),
    "reject": gettext_noop("Rejected by {name}"),
    "expired": gettext_noop("Nobody answered in time"),
}
_SAID_TO_QUESTION = {
    "answered": gettext_noop("Answered by {name}"),
    "reject": gettext_noop("Dismissed by {name}"),
    "expired": gettext_noop("Nobody answered in time"),
}
_STOPS = frozenset({TurnReason.STOPPED, TurnReason.STOPPED_BY, TurnReason.STOPPED_BY_OPERATOR})


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
    by = row.replied_by.display_name if row.replied_by else _("somebody")
    said = _SAID_TO_QUESTION if isinstance(row, QuestionRequest) else _SAID
    return Decision(
        said=_(said[row.status]).format(name=by) if row.status in said else "",
        rejected=row.status in ("reject", "expired"),
        message="" if isinstance(row, QuestionRequest) else row.feedback,
        asked=row.created_at,
        answered=row.replied_at or row.created_at,
    )


def waited_s(decisions: Decisions) -> float:
    """For how long at least one of them waited for a person. Units: seconds."""
    every = (decision for group in decisions.values() for decision in group)
    return seconds_waited((one.asked, one.answered) for one in every)


def cut_off(state: StoredState, decisions: Sequence[Decision]) -> str:
    """Returns: how a person ended a call that failed by this alone."""
    if state["status"] != "error":
        return ""
    for decision in decisions:
        if decision.rejected:
            return first_line(f"{decision.said}: {decision.message}".removesuffix(": "))
    metadata = state.get("metadata", {})
    if metadata.get("interrupted") is not True:
        return ""
    return stored_text(object_of(metadata, CAUSE), first_line(state.get("error", "")))


def is_stopped_with_turn(state: StoredState) -> bool:
    """Whether a call ended because its turn was stopped, which the turn's end tells."""
    metadata = state.get("metadata", {})
    return (
        metadata.get("interrupted") is True
        and text_of(object_of(metadata, CAUSE), "reason") in _STOPS
    )


def stopped_by(state: StoredState) -> str:
    """Returns: who ended a command that has a result all the same; empty for nobody."""
    name = first_line(text_of(state.get("metadata", {}), "stoppedBy"))
    return _("Stopped by {name}").format(name=name) if name else ""
