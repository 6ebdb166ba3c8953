from __future__ import annotations

from datetime import datetime

from opencode_web.lib.json import JsonObject
from sessions.events.files import FileRefused
from sessions.events.projectors.rows import Rows, from_ms
from sessions.events.removal import MessageRemoved
from sessions.events.types import MessageUpdated, PartRemoved, PartUpdated
from sessions.models import Message, Part


def project_message(rows: Rows, event: MessageUpdated, seq: int, time: datetime) -> None:
    info = event.info
    if info.role == "assistant" and info.summary:
        begun = None if info.time.completed else info.time.created
        rows.session.compacting_at = from_ms(begun)
    rows.put_message(
        Message(
            id=info.id,
            session=rows.session,
            role=info.role,
            seq=seq,
            author_id=event.author_id,
            data=info.to_json(),
        )
    )


def project_part(rows: Rows, event: PartUpdated, seq: int, time: datetime) -> None:
    part = event.part
    rows.put_part(
        Part(
            id=part.id,
            message_id=part.messageID,
            session=rows.session,
            type=part.type,
            seq=seq,
            data=part.to_json(),
        )
    )


def project_file_refused(rows: Rows, event: FileRefused, seq: int, time: datetime) -> None:
    part = rows.part(event.part_id, message_id=event.message_id)
    if part is not None:
        part.data = _marked(part.data, event)
        rows.put_part(part)


def _marked(data: JsonObject, event: FileRefused) -> JsonObject:
    """The same with a mark on the file, be it the part itself or in a result of a tool."""
    if data.get("id") == event.file_id and data.get("type") == "file":
        refused = data.get("refused")
        known = refused if isinstance(refused, dict) else {}
        return {**data, "refused": {**known, event.model: event.reason}}
    state = data.get("state")
    files = state.get("attachments") if isinstance(state, dict) else None
    if not isinstance(state, dict) or not isinstance(files, list):
        return data
    marked = [_marked(file, event) if isinstance(file, dict) else file for file in files]
    return {**data, "state": {**state, "attachments": marked}}


def project_message_removed(rows: Rows, event: MessageRemoved, seq: int, time: datetime) -> None:
    rows.remove_message(event.message_id)
    # What the conversation takes up without it is not known.
    rows.session.context_tokens = 0


def project_part_removed(rows: Rows, event: PartRemoved, seq: int, time: datetime) -> None:
    rows.remove_part(event.part_id, message_id=event.message_id)
