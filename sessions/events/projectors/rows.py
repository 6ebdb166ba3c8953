from __future__ import annotations

from datetime import UTC, datetime
from typing import TypeVar

from django.db.models import Model

from opencode_web.lib.compiled import CompiledInsert
from sessions.models import Message, Part, Session

_Row = TypeVar("_Row", bound=Model)
_FIELDS = Session._meta.concrete_fields
_MESSAGES = CompiledInsert(Message, replace=["data"])
_PARTS = CompiledInsert(Part, replace=["data"])


def from_ms(moment: int | None) -> datetime | None:
    """Units: milliseconds since the epoch; 0 stands for none, as in `archived`."""
    return datetime.fromtimestamp(moment / 1000, UTC) if moment else None


class Rows:
    """The rows that a run of events touches, written in as few statements as possible."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._before = _columns(session)
        self._messages: dict[str, Message] = {}
        self._parts: dict[str, Part] = {}

    def put_message(self, row: Message) -> None:
        """Insert, or replace `data` and keep the place in the conversation."""
        known = self._messages.setdefault(row.pk, row)
        known.data = row.data

    def put_part(self, row: Part) -> None:
        """Insert, or replace `data` and keep the place in the message."""
        known = self._parts.setdefault(row.pk, row)
        known.data = row.data

    def remove_part(self, part_id: str) -> None:
        """Delete a part, whether it is written already or was collected just now."""
        self._parts.pop(part_id, None)
        Part.objects.filter(session=self.session, pk=part_id).delete()

    def flush(self) -> None:
        """Write messages before their parts, and the session last."""
        _write(_MESSAGES, self._messages)
        _write(_PARTS, self._parts)
        changed = [
            name for name, value in _columns(self.session).items() if self._before[name] != value
        ]
        # A statement over all of its columns costs five times as much to build.
        self.session.save(update_fields=changed)
        self._before = _columns(self.session)


def _columns(session: Session) -> dict[str, object]:
    # Folding replaces JSON values and never changes them in place, so a flat copy will do.
    return {field.attname: getattr(session, field.attname) for field in _FIELDS}


def _write(table: CompiledInsert[_Row], rows: dict[str, _Row]) -> None:
    table.write(list(rows.values()))
    rows.clear()
