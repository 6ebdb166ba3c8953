from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, cast

from django.db import transaction
from pydantic import TypeAdapter

from opencode_web.lib.errors import NotFound
from opencode_web.lib.ids import new_slug
from sessions.access import SessionAccess
from sessions.actions.copies import Copier
from sessions.actions.sessions import MAX_TITLE_CHARS, open_session
from sessions.events.messages import MessageInfo
from sessions.events.parts import PART
from sessions.events.store import append
from sessions.events.types import MessageUpdated, PartUpdated, SessionCreated, SessionEvent
from sessions.models import Message, Part, Session
from teams.audit import AuditAction

# Messages that are read and written at a time.
CHUNK = 200
_INFO: TypeAdapter[MessageInfo] = TypeAdapter(cast(Any, MessageInfo))  # see events/types.py
_FORKED = re.compile(r"(.+) \(fork #([0-9]{1,9})\)")


@transaction.atomic
def fork_session(access: SessionAccess, *, before: str | None = None) -> Session:
    """Make a session of its own of the messages before `before`, or of all of them.

    What is rolled back stays behind, and so does an answer that is still being written. The source
    is not locked: it goes on working meanwhile. What it has cost so far is not counted again.

    Raises: NotFound for an unknown message; Conflict while the project's files are not ready.
    Source: behaviour of OpenCode's fork.
    """
    source = access.session
    end = source.visible_before
    if before is not None:
        end = min(end, _seq_of(source, before))
    created = SessionCreated(
        project_id=source.project_id,
        owner_id=access.principal.user.pk,
        title=fork_title(source.title),
        slug=new_slug(),
        agent=source.agent,
        model=source.model,
        # A sub-agent's session has the rules that hold it; without them its fork could do more.
        permission=source.permission,
    )
    fork = open_session(access, created, AuditAction.SESSION_FORKED, {"source": source.pk})
    copier = Copier(fork.pk)
    for messages in _chunks(source, end=end):
        append(fork, _copy(source, messages, copier), publish=False)
    return fork


def fork_title(title: str) -> str:
    """Returns: the title with `(fork #1)`, or with the next number when it has one."""
    match = _FORKED.fullmatch(title)
    base, number = (match[1], int(match[2]) + 1) if match else (title, 1)
    ending = f" (fork #{number})"
    return base[: MAX_TITLE_CHARS - len(ending)] + ending


def _seq_of(source: Session, message_id: str) -> int:
    seq = source.messages.filter(pk=message_id).values_list("seq", flat=True).first()
    if seq is None:
        raise NotFound("Message", message_id)
    return seq


def _chunks(source: Session, *, end: int) -> Iterator[list[Message]]:
    last = 0
    rows = Message.objects.filter(session=source, seq__lt=end).order_by("seq")
    while messages := list(rows.filter(seq__gt=last)[:CHUNK]):
        last = messages[-1].seq
        yield messages


def _copy(source: Session, messages: list[Message], copier: Copier) -> list[SessionEvent]:
    parts: dict[str, list[Part]] = defaultdict(list)
    for row in Part.objects.visible(source).filter(message__in=messages).order_by("seq", "pk"):
        parts[row.message_id].append(row)
    events: list[SessionEvent] = []
    for message in messages:
        if message.role == "assistant" and "completed" not in message.data["time"]:
            continue
        info = _INFO.validate_python(copier.copy_message(message.data))
        events.append(MessageUpdated(info=info, author_id=message.author_id))
        for part in parts[message.pk]:
            copied = copier.copy_part(part.data, message_id=info.id)
            events.append(PartUpdated(part=PART.validate_python(copied)))
    return events
