from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Any, cast

from django.db import transaction
from pydantic import TypeAdapter

from opencode_web.lib.errors import NotFound
from opencode_web.lib.ids import new_id, new_slug
from opencode_web.lib.json import JsonObject
from sessions.access import SessionAccess
from sessions.actions.checkouts import Plan, checkout_of, folder_for, plan_checkout
from sessions.actions.copies import Copier, settled
from sessions.actions.sessions import MAX_TITLE_CHARS, open_session
from sessions.changes.turn_diffs import summary_events
from sessions.events.messages import MessageInfo
from sessions.events.parts import PART
from sessions.events.store import append
from sessions.events.types import MessageUpdated, PartUpdated, SessionCreated, SessionEvent
from sessions.models import Message, Part, SeenFile, Session
from sessions.rules.second_person import writers_of
from sessions.todos import restored_todos
from sessions.waited import seconds_waited
from teams.audit import AuditAction

# Messages that are read and written at a time.
CHUNK = 200
_INFO: TypeAdapter[MessageInfo] = TypeAdapter(cast(Any, MessageInfo))  # see events/types.py
_FORKED = re.compile(r"(.+) \(fork #([0-9]{1,9})\)")


@transaction.atomic
def fork_session(access: SessionAccess, *, before: str | None = None) -> Session:
    """Make a session of its own of the messages before `before`, or of all of them.

    What is rolled back stays behind, and so does an answer that is still being written. The source
    is not locked: it goes on working meanwhile. What it has cost so far is not counted again. A
    fork of a session with its own worktree gets one, too, and that of a private one is private.

    Raises: NotFound for an unknown message; Conflict while the project's files are not ready.
    Source: behaviour of OpenCode's fork.
    """
    source = access.session
    end = source.visible_before
    if before is not None:
        end = min(end, _seq_of(source, before))
    fork_id, plan = new_id("ses"), _plan(source, end)
    created = SessionCreated(
        project_id=source.project_id,
        folder=folder_for(source.project, fork_id) if plan else None,
        path=source.path or None,
        owner_id=access.principal.user.pk,
        origin=source.family_id,
        title=fork_title(source.title),
        slug=new_slug(),
        agent=source.agent,
        model=source.model,
        # A sub-agent's session has the rules that hold it; without them its fork could do more.
        permission=source.permission,
        metadata=source.metadata,
        private=(source.root or source).is_private or None,
        read_only=source.is_read_only or None,
        cost_limit=source.cost_limit,
    )
    data: JsonObject = {"source": source.pk}
    fork = open_session(access, created, AuditAction.SESSION_FORKED, data, session_id=fork_id)
    fork.writers.add(*writers_of(source))
    if plan is not None:
        plan_checkout(fork, plan)
    copier = Copier(fork.pk)
    for messages in _chunks(source, end=end):
        append(fork, _copy(source, messages, copier), publish=False)
    append(fork, [*restored_todos(fork), *summary_events(fork), *settled(fork)], publish=False)
    _copy_seen_files(source, fork, copier.part_ids)
    return fork


def _plan(source: Session, end: int) -> Plan | None:
    """A worktree from the same commit, with the files as they were after the last copied step.

    A source in the project's folder shares that with its fork.
    """
    checkout = checkout_of(source) if source.folder else None
    if checkout is None:
        return None
    steps = Part.objects.filter(
        session=source, type__in=("snapshot", "step-finish"), message__seq__lt=end
    )
    trees = (row.data.get("snapshot") for row in steps.order_by("-seq", "-id").iterator())
    tree = next((found for found in trees if found), None)
    seed: JsonObject = {"files": source.files_id, "tree": tree} if tree else {}
    return Plan(branch=checkout.base_branch, base=checkout.base, seed=seed)


def _copy_seen_files(source: Session, fork: Session, part_ids: dict[str, str]) -> None:
    """What the copied calls have read, the fork has read: its files began as the same."""
    rows = source.seen_files.order_by("pk").iterator(CHUNK)
    copied = (
        SeenFile(
            session=fork,
            part_id=part_ids[row.part_id],
            path_digest=row.path_digest,
            digest=row.digest,
        )
        for row in rows
        if row.part_id in part_ids
    )
    SeenFile.objects.bulk_create(copied, batch_size=CHUNK)


def fork_title(title: str) -> str:
    """Returns: the title with `(fork #1)`, or with the next number when it has one."""
    match = _FORKED.fullmatch(title)
    base, number = origin_title(title), int(match[2]) + 1 if match else 1
    ending = f" (fork #{number})"
    return base[: MAX_TITLE_CHARS - len(ending)] + ending


def origin_title(title: str) -> str:
    """Returns: the title without what `fork_title` has added."""
    match = _FORKED.fullmatch(title)
    return match[1] if match else title


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


def _waits(source: Session, messages: list[Message]) -> dict[str, list[tuple[datetime, datetime]]]:
    """When something was asked for each message, and answered."""
    found: dict[str, list[tuple[datetime, datetime]]] = defaultdict(list)
    ids = [message.pk for message in messages]
    for rows in (source.permissions, source.questions):
        answered = rows.filter(message_id__in=ids)
        for message_id, asked, replied in answered.values_list(
            "message_id", "created_at", "replied_at"
        ):
            if replied is not None:
                found[message_id].append((asked, replied))
    return found


def _copy(source: Session, messages: list[Message], copier: Copier) -> list[SessionEvent]:
    parts: dict[str, list[Part]] = defaultdict(list)
    for row in Part.objects.visible(source).filter(message__in=messages).order_by("seq", "pk"):
        parts[row.message_id].append(row)
    waits = _waits(source, messages)
    events: list[SessionEvent] = []
    for message in messages:
        if message.role == "assistant" and "completed" not in message.data["time"]:
            continue
        info = _INFO.validate_python(
            copier.copy_message(message.data, waited_s=seconds_waited(waits[message.pk]))
        )
        events.append(MessageUpdated(info=info, author_id=message.author_id))
        for part in parts[message.pk]:
            copied = copier.copy_part(part.data, message_id=info.id)
            events.append(PartUpdated(part=PART.validate_python(copied)))
    return events
