"""Make a session of an exported one. The document is hostile: nothing in it is taken on trust.

Left out is what means something on the server only where it was written: snapshots and patches,
rules that allow, parents, totals. Calls that had not ended are ended, or they would run here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal, cast

from django.db import transaction
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from opencode_web.lib.errors import Invalid
from opencode_web.lib.ids import new_slug
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.reasons import Cause, english
from sessions.access import ProjectAccess
from sessions.actions.copies import Copier, settled
from sessions.actions.sessions import MAX_TITLE_CHARS, clean_title, default_title, open_session
from sessions.events.messages import AssistantMessage, MessageInfo, MessageTime
from sessions.events.parts import (
    PART,
    AnyPart,
    FilePart,
    PartTime,
    ReasoningPart,
    StepFinishPart,
    StepStartPart,
    TextPart,
    ToolFailed,
    ToolPart,
    ToolPending,
    ToolRunning,
)
from sessions.events.reasons import TurnReason, told_error
from sessions.events.store import append
from sessions.events.types import MessageUpdated, PartUpdated, SessionCreated, SessionEvent
from sessions.files import decode_data_url
from sessions.models import Session
from sessions.todos import restored_todos
from sessions.wire import Variant
from teams.audit import AuditAction

MAX_MESSAGES = 20_000
MAX_PARTS = 100_000
_CHUNK = 2_000
_UNFINISHED = Cause(TurnReason.UNFINISHED)
# They name trees of a repository that this server lacks, or a moment that is over.
_LEFT_OUT = ("snapshot", "patch", "retry")
_MAX_COUNT = 10**12
_INFO: TypeAdapter[MessageInfo] = TypeAdapter(cast(Any, MessageInfo))  # see events/types.py


class _Model(BaseModel):
    id: str = Field(max_length=200)
    providerID: str = Field(max_length=100)
    variant: Variant = Field(default=None, max_length=100)


class _Rule(BaseModel):
    permission: str = Field(max_length=100)
    pattern: str = Field(max_length=1_000)
    action: Literal["allow", "ask", "deny"]


class _Point(BaseModel):
    messageID: str
    partID: str | None = None


class _Session(BaseModel):
    """What is taken over of `info`; the rest is ignored."""

    title: str = ""
    agent: str = Field(default="", max_length=60)
    model: _Model | None = None
    permission: list[_Rule] = Field(default=[], max_length=500)
    revert: _Point | None = None


@transaction.atomic
def import_session(access: ProjectAccess, info: JsonValue, messages: JsonValue) -> Session:
    """Make a session of an exported document's `info` and `messages`.

    What was rolled back in it is not taken over. Only the importer's own messages have an author.

    Raises: Invalid, which names the place; Conflict while the project's files are not ready.
    """
    head = _read_info(info)
    created = SessionCreated(
        project_id=access.project.pk,
        owner_id=access.principal.user.pk,
        title=clean_title(head.title[:MAX_TITLE_CHARS]) if head.title.strip() else default_title(),
        slug=new_slug(),
        agent=head.agent,
        model=head.model.model_dump(exclude_none=True) if head.model else {},
        permission=[rule.model_dump() for rule in head.permission if rule.action == "deny"],
    )
    session = open_session(access, created, AuditAction.SESSION_IMPORTED)
    session.writers.add(access.principal.user)
    events: list[SessionEvent] = []
    for event in _Reader(access, session, head.revert).read(messages):
        events.append(event)
        if len(events) == _CHUNK:
            append(session, events, publish=False)
            events = []
    append(session, events, publish=False)
    append(session, [*restored_todos(session), *settled(session)], publish=False)
    return session


def _read_info(info: JsonValue) -> _Session:
    try:
        return _Session.model_validate(info)
    except ValidationError as exc:
        raise _invalid(exc, "info") from exc


class _Reader:
    """Reads the messages of a document in order, as events of the new session."""

    def __init__(self, access: ProjectAccess, session: Session, end: _Point | None) -> None:
        self._user = access.principal.user
        self._copier = Copier(session.pk)
        self._end = end
        self._parts = 0

    def read(self, messages: JsonValue) -> Iterator[SessionEvent]:
        """Raises: Invalid."""
        if not isinstance(messages, list) or len(messages) > MAX_MESSAGES:
            raise Invalid(f"messages: a list of at most {MAX_MESSAGES:,}", kind="Payload")
        for index, entry in enumerate(messages):
            where = f"messages.{index}"
            given = _object(entry, where)
            info = _object(given.get("info"), f"{where}.info")
            is_end = self._end is not None and info.get("id") == self._end.messageID
            if is_end and self._end and self._end.partID is None:
                return
            yield from self._read_message(given, info, where)
            if is_end:
                return

    def _read_message(
        self, given: JsonObject, info: JsonObject, where: str
    ) -> Iterator[SessionEvent]:
        data = self._copier.copy_message(info)
        try:
            message = _INFO.validate_python(data, extra="ignore")
        except ValidationError as exc:
            raise _invalid(exc, f"{where}.info", skip=1) from exc
        is_own = message.role == "user" and given.get("author") == self._user.email
        author_id = self._user.pk if is_own else None
        if isinstance(message, AssistantMessage):
            message = _ended_answer(message, f"{where}.info")
        yield MessageUpdated(info=message, author_id=author_id)
        parts = given.get("parts")
        if not isinstance(parts, list):
            raise Invalid(f"{where}.parts: a list", kind="Payload")
        for index, part in enumerate(parts):
            place = f"{where}.parts.{index}"
            own = _object(part, place)
            if self._end and self._end.partID and own.get("id") == self._end.partID:
                return
            if own.get("type") not in _LEFT_OUT:
                yield PartUpdated(part=self._read_part(own, message.id, place))

    def _read_part(self, given: JsonObject, message_id: str, where: str) -> AnyPart:
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise Invalid(f"{where}: a session has at most {MAX_PARTS:,} parts", kind="Payload")
        try:
            data = self._copier.copy_part(given, message_id=message_id)
            part = PART.validate_python(data, extra="ignore")
        except ValidationError as exc:
            raise _invalid(exc, where, skip=1) from exc
        _check_files(part, where)
        if isinstance(part, StepStartPart):
            return part.model_copy(update={"snapshot": None})
        if isinstance(part, StepFinishPart):
            _check_use(part, where)
            return part.model_copy(update={"snapshot": None})
        if isinstance(part, ToolPart):
            return _ended_call(part)
        return _ended_text(part) if isinstance(part, TextPart | ReasoningPart) else part


def _object(value: JsonValue, where: str) -> JsonObject:
    if not isinstance(value, dict):
        raise Invalid(f"{where}: an object", kind="Payload")
    return value


def _invalid(exc: ValidationError, where: str, *, skip: int = 0) -> Invalid:
    """`skip`: how much of the place is the name of a kind and not a key."""
    first = exc.errors()[0]
    place = ".".join([where, *(str(key) for key in first["loc"][skip:])])
    return Invalid(f"{place}: {first['msg']}", kind="Payload")


def _ended_answer(info: AssistantMessage, where: str) -> AssistantMessage:
    _check_use(info, where)
    if info.time.completed is not None:
        return info
    error = info.error or told_error(_UNFINISHED, name="MessageAbortedError")
    created = info.time.created
    return info.model_copy(
        update={"error": error, "time": MessageTime(created=created, completed=created)}
    )


def _ended_call(part: ToolPart) -> ToolPart:
    state = part.state
    if not isinstance(state, ToolPending | ToolRunning):
        return part
    start = state.time.start if isinstance(state, ToolRunning) else 0
    failed = ToolFailed(
        input=state.input, error=english(_UNFINISHED), time=PartTime(start=start, end=start)
    )
    return part.model_copy(update={"state": failed})


def _ended_text(part: TextPart | ReasoningPart) -> AnyPart:
    if part.time is None or part.time.end is not None:
        return part
    start = part.time.start
    return part.model_copy(update={"time": PartTime(start=start, end=start)})


def _check_use(used: AssistantMessage | StepFinishPart, where: str) -> None:
    tokens = used.tokens
    counts = [tokens.total or 0, tokens.input, tokens.output, tokens.reasoning]
    counts += [tokens.cache.read, tokens.cache.write]
    if not all(0 <= count <= _MAX_COUNT for count in counts):
        raise Invalid(f"{where}.tokens: counts from 0 to {_MAX_COUNT}", kind="Payload")
    if not (math.isfinite(used.cost) and 0 <= used.cost <= _MAX_COUNT):
        raise Invalid(f"{where}.cost: an amount from 0 to {_MAX_COUNT}", kind="Payload")


def _check_files(part: AnyPart, where: str) -> None:
    files = [part] if isinstance(part, FilePart) else []
    if isinstance(part, ToolPart):
        files += getattr(part.state, "attachments", None) or []
    for file in files:
        if file.url.startswith("data:"):
            try:
                decode_data_url(file.url)
            except Invalid as exc:
                raise Invalid(f"{where}.url: {exc.message}", kind="Payload") from exc
