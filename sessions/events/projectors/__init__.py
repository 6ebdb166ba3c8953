"""Fold events into rows: one function for each type of event, in the table below.

A projector changes rows and nothing else, and must do the same when the log is folded again.
Messages and parts are collected and written once per append.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sessions.events.projectors import (
    compaction,
    context,
    inbox,
    message,
    permission,
    question,
    session,
    todo,
    usage,
)
from sessions.events.projectors.rows import Rows
from sessions.events.types import SessionEvent, SessionUpdated
from sessions.models import Session

Projector = Callable[[Rows, Any, int, datetime], None]  # Any: each takes its own event class

PROJECTORS: dict[str, Projector] = {
    "session.created": session.project_created,
    "session.updated": session.project_updated,
    "session.used": usage.project_used,
    "session.status": session.project_status,
    "session.error": session.project_error,
    "session.reverted": session.project_reverted,
    "file.reverted": session.project_file_reverted,
    "file.refused": message.project_file_refused,
    "session.compacted": compaction.project_compacted,
    "input.admitted": inbox.project_admitted,
    "input.promoted": inbox.project_promoted,
    "input.changed": inbox.project_changed,
    "inputs.reordered": inbox.project_reordered,
    "input.cancelled": inbox.project_cancelled,
    "message.updated": message.project_message,
    "part.updated": message.project_part,
    "message.removed": message.project_message_removed,
    "part.removed": message.project_part_removed,
    "permission.asked": permission.project_asked,
    "permission.replied": permission.project_replied,
    "question.asked": question.project_asked,
    "question.replied": question.project_replied,
    "todo.updated": todo.project_todos,
    "context.started": context.project_started,
    "context.updated": context.project_updated,
    "context.ended": context.project_ended,
}


class Fold:
    """Folds a run of events of one session; `flush` writes what was collected."""

    def __init__(self, session: Session) -> None:
        self._rows = Rows(session)

    def apply(self, event: SessionEvent, *, seq: int, time: datetime) -> None:
        """Fold one event. Must be called in the order of the log."""
        PROJECTORS[event.type](self._rows, event, seq, time)
        self._rows.session.seq = seq
        if not _is_only_shared(event):
            self._rows.session.updated_at = time
        if not isinstance(event, SessionUpdated):
            self._rows.session.active_at = time

    def flush(self) -> None:
        """Write the collected rows and the session."""
        self._rows.flush()


def _is_only_shared(event: SessionEvent) -> bool:
    """A link to what was said is no news in it."""
    return isinstance(event, SessionUpdated) and event == SessionUpdated(share=event.share)
