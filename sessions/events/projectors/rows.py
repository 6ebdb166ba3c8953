from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from datetime import UTC, datetime

from opencode_web.lib.compiled import CompiledInsert, write_columns
from sessions.models import Compaction, Message, Part, Session
from teams.actions.usage import write_usage
from teams.models import UsageEntry

_FIELDS = Session._meta.concrete_fields
_MESSAGES = CompiledInsert(Message, replace=["data"])
_PARTS = CompiledInsert(Part, replace=["data"])
# Rows that one statement names. SQLite takes 32,766 parameters.
_NAMED = 1_000


def from_ms(moment: int | None) -> datetime | None:
    """Units: milliseconds since the epoch; 0 stands for none, as in `archived`."""
    return datetime.fromtimestamp(moment / 1000, UTC) if moment else None


class Rows:
    """The rows that a run of events touches, written in as few statements as possible."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._before = _columns(session)
        self._messages: dict[str, Message] = {}
        # By message, so that one leaves with its parts.
        self._parts: dict[str, dict[str, Part]] = defaultdict(dict)
        self._compactions: dict[str, Compaction] = {}
        self._usage: list[UsageEntry] = []
        self._gone_messages: set[str] = set()
        self._gone_parts: set[str] = set()

    def put_message(self, row: Message) -> None:
        """Insert, or replace `data` and keep the place in the conversation."""
        known = self._messages.setdefault(row.pk, row)
        known.data = row.data

    def seq_of_message(self, id: str) -> int:
        """The place of a message in the conversation, whether it is written yet or not."""
        known = self._messages.get(id) or self.session.messages.only("seq").get(pk=id)
        return known.seq

    def newest_answer(self) -> Message | None:
        """The assistant message that came last, written yet or not."""
        known = (row for row in reversed(self._messages.values()) if row.role == "assistant")
        written = self.session.messages.filter(role="assistant").order_by("-seq")
        return next(known, None) or written.first()

    def message(self, id: str) -> Message | None:
        """A message as it is in the database, or else as it will be."""
        return self.session.messages.filter(pk=id).first() or self._messages.get(id)

    def put_usage(self, row: UsageEntry) -> None:
        """Insert."""
        self._usage.append(row)

    def put_compaction(self, row: Compaction) -> None:
        """Insert. Its messages may be new as well."""
        self._compactions[row.pk] = row

    def put_part(self, row: Part) -> None:
        """Insert, or replace `data` and keep the place in the message."""
        known = self._parts[row.message_id].setdefault(row.pk, row)
        known.data = row.data

    def part(self, id: str, *, message_id: str) -> Part | None:
        """A part as it will be, or else as it is in the database."""
        return self._parts[message_id].get(id) or self.session.parts.filter(pk=id).first()

    def remove_message(self, id: str) -> None:
        """Take a message away with its parts."""
        self._messages.pop(id, None)
        self._parts.pop(id, None)
        for row in list(self._compactions.values()):
            if id in (row.message_id, row.summary_id):
                del self._compactions[row.pk]
        self._gone_messages.add(id)

    def remove_part(self, id: str, *, message_id: str) -> None:
        """Take one part away."""
        self._parts[message_id].pop(id, None)
        self._gone_parts.add(id)

    def flush(self) -> None:
        """Write what is gone first, messages before their parts, and the session last."""
        _delete(self.session, parts=self._gone_parts, messages=self._gone_messages)
        _MESSAGES.write(list(self._messages.values()))
        Compaction.objects.bulk_create(self._compactions.values())
        _PARTS.write([row for own in self._parts.values() for row in own.values()])
        write_usage(self._usage)
        for written in (self._messages, self._parts, self._compactions, self._usage):
            written.clear()
        self._gone_messages.clear()
        self._gone_parts.clear()
        columns = _columns(self.session)
        changed = [name for name, value in columns.items() if self._before[name] != value]
        write_columns(self.session, changed)
        self._before = columns


def _columns(session: Session) -> dict[str, object]:
    # Folding replaces JSON values and never changes them in place, so a flat copy will do.
    return {field.attname: getattr(session, field.attname) for field in _FIELDS}


def _delete(session: Session, *, parts: Collection[str], messages: Collection[str]) -> None:
    for ids in _some(parts):
        session.parts.filter(pk__in=ids).delete()
    for ids in _some(messages):
        # Parts first: the cascade would read every row before it deletes it.
        session.parts.filter(message__in=ids).delete()
        session.messages.filter(pk__in=ids).delete()


def _some(ids: Collection[str]) -> Iterator[list[str]]:
    rest = list(ids)
    for start in range(0, len(rest), _NAMED):
        yield rest[start : start + _NAMED]
