"""The events of an archive: checked as a whole, then written and folded into rows.

IDs are kept, so that what refers to them still does. That is why none of them may be on this server
already: an event that names the message of another team would change it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Model
from pydantic import ValidationError

from opencode_web.backup.errors import BackupError, DamagedBackup
from opencode_web.lib.json import JsonValue
from opencode_web.lib.reasons import Cause
from opencode_web.transfer.export import WHO
from opencode_web.transfer.shapes import EventShape
from sessions.actions.requests import close_requests
from sessions.events.inbox import InputCancelled
from sessions.events.reasons import TurnReason, told_error
from sessions.events.replay import rebuild
from sessions.events.store import append
from sessions.events.types import (
    SCHEMA_VERSION,
    SessionCreated,
    SessionEvent,
    SessionStatus,
    parse_event,
)
from sessions.models import (
    Event,
    Message,
    Part,
    PermissionRequest,
    Project,
    QuestionRequest,
    Run,
    Session,
    SessionInput,
    State,
)
from sessions.runner.log.history import newest_answer
from sessions.runner.log.settle import settle_answer

_OWNERS: tuple[type[Model], ...] = (
    *(Session, Message, Part, SessionInput, PermissionRequest, QuestionRequest),
)
_BATCH = 500
_MAX_ID_CHARS = 60
_UNFINISHED = Cause(TurnReason.UNFINISHED)


@dataclass
class Checked:
    """What a first reading found. `numbers` counts the events of each session."""

    sessions: list[str]
    projects: set[str]
    numbers: dict[str, int] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)

    def take(self, line: EventShape) -> None:
        """Raises: DamagedBackup."""
        number = self.numbers.get(line.session, 0) + 1
        if line.session not in self._known or line.seq != number:
            raise DamagedBackup(f"Event {line.seq} of {line.session} is not in its place.")
        if line.version > SCHEMA_VERSION:
            raise BackupError(
                "The archive has events of a newer version of OpenCode Web. Import it with that "
                "version."
            )
        self.numbers[line.session] = number
        event = _parsed(line)
        if isinstance(event, SessionCreated) != (number == 1):
            raise DamagedBackup(f"The log of {line.session} does not begin as logs do.")
        if isinstance(event, SessionCreated):
            self._check_place(line.session, event)
        self.ids.update(_ids_in(line.data))

    def __post_init__(self) -> None:
        self._known = set(self.sessions)
        self._begun: set[str] = set()

    def _check_place(self, session_id: str, event: SessionCreated) -> None:
        above = {one for one in (event.parent_id, event.root_id) if one}
        if event.project_id not in self.projects or not above <= self._begun:
            raise DamagedBackup(f"{session_id} belongs to what is not in the archive.")
        self._begun.add(session_id)

    def finish(self) -> None:
        """Raises: DamagedBackup; BackupError for what is on this server already."""
        if not all(one.startswith("ses_") for one in self.sessions):
            raise DamagedBackup("The archive has a session with a bad ID.")
        if set(self.numbers) != self._known or len(self.sessions) != len(self._known):
            raise DamagedBackup("The archive lacks events of a session.")
        ids = sorted({*self.ids, *self.sessions})
        for start in range(0, len(ids), _BATCH):
            some = ids[start : start + _BATCH]
            for model in _OWNERS:
                if model._base_manager.filter(pk__in=some).exists():
                    raise BackupError(
                        "Sessions of the archive are on this server already. Erase the team "
                        "first if it was imported before."
                    )


def _ids_in(value: JsonValue, key: str = "") -> Iterator[str]:
    if isinstance(value, str):
        if key.lower().endswith(("id", "ids")) and len(value) <= _MAX_ID_CHARS:
            yield value
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from _ids_in(one, name)
    elif isinstance(value, list):
        for one in value:
            yield from _ids_in(one, key)


def _parsed(line: EventShape) -> SessionEvent:
    try:
        return parse_event(line.type, line.data)
    except (ValidationError, KeyError, ValueError, RecursionError) as exc:
        raise DamagedBackup(f"Event {line.seq} of {line.session} cannot be read.") from exc


def write_events(
    lines: Iterable[EventShape], projects: dict[str, Project], people: dict[int, int]
) -> int:
    """Write checked events, fold them, and put every session to rest. Needs a transaction.

    `people`: accounts here by their numbers in the archive. Returns: how many events.
    """
    count, session, batch = 0, None, list[Event]()
    for line in lines:
        if session is None or session.pk != line.session:
            _finish(session, batch)
            event = _parsed(line)
            assert isinstance(event, SessionCreated)
            session, batch = _begin(line, event, projects[event.project_id]), []
        batch.append(_row(line, session, people))
        if len(batch) == _BATCH:
            Event.objects.bulk_create(batch)
            batch = []
        count += 1
    _finish(session, batch)
    return count


def _begin(line: EventShape, event: SessionCreated, project: Project) -> Session:
    moment: datetime = line.time
    session = Session(
        id=line.session,
        project=project,
        parent_id=event.parent_id,
        root_id=event.root_id,
        state_since=moment,
        created_at=moment,
        updated_at=moment,
        active_at=moment,
    )
    session.save(force_insert=True)
    Run.objects.create(session=session)
    return session


def _row(line: EventShape, session: Session, people: dict[int, int]) -> Event:
    data = {key: value for key, value in line.data.items() if key not in WHO}
    for key in WHO:
        number = line.data.get(key)
        if isinstance(number, int) and number in people:
            data[key] = people[number]
    return Event(
        session=session,
        seq=line.seq,
        type=line.type,
        schema_version=line.version,
        data=data,
        time=line.time,
    )


def _finish(session: Session | None, batch: list[Event]) -> None:
    if session is None:
        return
    Event.objects.bulk_create(batch)
    append(rebuild(session.pk), _settled(Session.objects.get(pk=session.pk)), publish=False)


def _settled(session: Session) -> list[SessionEvent]:
    """What ends whatever went on there when it was exported: nothing of it may run here."""
    waiting = session.inputs.filter(status=SessionInput.Status.ADMITTED).order_by("position")
    events: list[SessionEvent] = [InputCancelled(id=row.pk) for row in waiting]
    if session.state == State.IDLE:
        return events
    events += close_requests(session, "cancelled", by_id=None)
    answer = newest_answer(session)
    if answer is not None and answer.info.time.completed is None:
        error = told_error(_UNFINISHED, name="MessageAbortedError")
        calls = [*answer.running, *answer.pending]
        events += settle_answer(answer, error=error, calls=calls)
    return [*events, SessionStatus(state="idle", outcome="interrupted").saying(_UNFINISHED)]
