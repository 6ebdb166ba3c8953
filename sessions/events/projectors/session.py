from __future__ import annotations

from datetime import datetime

from opencode_web.lib.json import JsonObject
from opencode_web.lib.reasons import Cause, english
from sessions.events.projectors.rows import Rows, from_ms
from sessions.events.removal import FileReverted, SessionReverted
from sessions.events.types import (
    SessionCreated,
    SessionFailed,
    SessionStatus,
    SessionUpdated,
)

_PLAIN = ("title", "agent", "model", "permission", "metadata", "summary", "folder", "share")


def project_created(rows: Rows, event: SessionCreated, seq: int, time: datetime) -> None:
    session = rows.session
    session.project_id = event.project_id
    session.owner_id = event.owner_id
    session.parent_id = event.parent_id
    session.root_id = event.root_id
    session.origin = event.origin or ""
    session.slug = event.slug
    session.folder, session.path = event.folder or "", event.path or ""
    session.is_private = bool(event.private)
    session.is_read_only, session.cost_limit = bool(event.read_only), event.cost_limit
    for name in ("title", "agent", "model", "permission", "metadata"):
        setattr(session, name, getattr(event, name))
    session.tokens = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    session.created_at = session.state_since = time


def project_updated(rows: Rows, event: SessionUpdated, seq: int, time: datetime) -> None:
    for name in _PLAIN:
        value = getattr(event, name)
        if value is not None:
            setattr(rows.session, name, value)
    if event.private is not None:
        rows.session.is_private = event.private
    if event.archived is not None:
        rows.session.archived_at = from_ms(event.archived)


def project_status(rows: Rows, event: SessionStatus, seq: int, time: datetime) -> None:
    session = rows.session
    session.state = event.state
    session.state_since = time
    session.waits_for = event.waits_for
    session.wake_at = from_ms(event.until)
    session.attempt = event.attempt or 0
    session.outcome = event.outcome
    session.outcome_detail = english(event.told)
    session.outcome_reason = event.told.to_json() if isinstance(event.told, Cause) else {}


def project_error(rows: Rows, event: SessionFailed, seq: int, time: datetime) -> None:
    """The error itself stands in its message; the status event that follows has the outcome."""


def project_reverted(rows: Rows, event: SessionReverted, seq: int, time: datetime) -> None:
    rows.session.revert = event.revert.to_json() if event.revert else {}
    rows.session.hidden_from = event.hidden_from
    # How much of the context the rest takes up is not known.
    rows.session.context_tokens = 0


def project_file_reverted(rows: Rows, event: FileReverted, seq: int, time: datetime) -> None:
    """The newest of a file counts. The next prompt makes all final: `inbox.project_promoted`."""
    others = [one for one in rows.session.file_reverts if one["file"] != event.file]
    if not event.undone:
        restored = event.restored.to_json()
        partly: JsonObject = {"partly": True} if event.partly else {}
        others.append({"file": event.file, "scope": event.scope, "restored": restored, **partly})
    rows.session.file_reverts = others
