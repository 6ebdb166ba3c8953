from __future__ import annotations

from typing import TypeVar

from django.db.models import Model, QuerySet

from sessions.models import Message, Part, Session

_Row = TypeVar("_Row", bound=Model)


class Rows:
    """The rows that a run of events touches, written in as few statements as possible."""

    def __init__(self, session: Session) -> None:
        self.session = session
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

    def flush(self) -> None:
        """Write messages before their parts, and the session last."""
        _upsert(Message.objects.all(), self._messages)
        _upsert(Part.objects.all(), self._parts)
        self.session.save()


def _upsert(table: QuerySet[_Row], rows: dict[str, _Row]) -> None:
    if not rows:
        return
    table.bulk_create(
        rows.values(), update_conflicts=True, unique_fields=["id"], update_fields=["data"]
    )
    rows.clear()
