"""Change single messages and parts of a session at rest."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction
from pydantic import ValidationError

from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.json import JsonObject
from sessions.access import SessionAccess
from sessions.actions.rest import lock_at_rest
from sessions.events.hidden import hide_in_event
from sessions.events.parts import (
    PART,
    AgentPart,
    AnyPart,
    FilePart,
    ReasoningPart,
    TextPart,
    ToolCompleted,
    ToolFailed,
    ToolPart,
)
from sessions.events.removal import MessageRemoved, SessionReverted
from sessions.events.store import append
from sessions.events.types import PartRemoved, PartUpdated
from sessions.files import resolve_file_part
from sessions.models import Message, Part, Session
from sessions.todos import restored_todos
from teams.audit import AuditAction, record


@transaction.atomic
def delete_messages(access: SessionAccess, ids: Collection[str]) -> None:
    """Remove messages with their parts, for good. Raises: NotFound when one is not there;
    SessionBusy.
    """
    session = lock_at_rest(access)
    found = set(session.messages.filter(pk__in=ids).values_list("pk", flat=True))
    missing = next((pk for pk in ids if pk not in found), None)
    if missing is not None:
        raise NotFound("Message", missing)
    by_id = access.principal.user.pk
    append(session, [MessageRemoved(message_id=pk, by_id=by_id) for pk in ids])
    append(session, restored_todos(session))
    _forget_empty_rollback(session)
    record(
        AuditAction.MESSAGE_DELETED,
        actor=access.principal.user,
        team=access.team.team,
        target=session,
        data={"messages": list(ids)},
    )


@transaction.atomic
def delete_part(access: SessionAccess, message_id: str, part_id: str) -> None:
    """Remove one part, for good. Raises: NotFound; SessionBusy."""
    session = lock_at_rest(access)
    part = _find_part(session, message_id, part_id)
    append(session, [PartRemoved(message_id=message_id, part_id=part.pk)])
    append(session, restored_todos(session))
    _forget_empty_rollback(session)
    record(
        AuditAction.PART_DELETED,
        actor=access.principal.user,
        team=access.team.team,
        target=session,
        data={"message": message_id, "part": part_id},
    )


@transaction.atomic
def update_part(access: SessionAccess, message_id: str, part_id: str, data: JsonObject) -> Part:
    """Replace what a part says. It keeps its ids and its type.

    What the runner goes by cannot be written by hand: snapshots and steps, and calls that have not
    ended.

    Raises: Invalid; NotFound; SessionBusy.
    """
    session = lock_at_rest(access)
    row = _find_part(session, message_id, part_id)
    try:
        part = PART.validate_python(data)
    except ValidationError as exc:
        first = exc.errors()[0]
        where = ".".join(str(key) for key in first["loc"][1:]) or "type"
        raise Invalid(f"{where}: {first['msg']}", kind="Payload") from exc
    address = (part.id, part.messageID, part.sessionID, part.type)
    if address != (row.pk, message_id, session.pk, row.type):
        raise Invalid(
            "The id, messageID, sessionID and type of a part cannot be changed.", kind="Payload"
        )
    if not _is_editable(part):
        raise Invalid(f"This part of type {part.type!r} cannot be edited.", kind="Payload")
    if isinstance(part, FilePart):
        resolve_file_part(part, session)
    append(session, [hide_in_event(session.project, PartUpdated(part=part))])
    session.writers.add(access.principal.user)
    record(
        AuditAction.PART_EDITED,
        actor=access.principal.user,
        team=access.team.team,
        target=session,
        data={"message": message_id, "part": part_id},
    )
    return Part.objects.get(pk=row.pk)


def _is_editable(part: AnyPart) -> bool:
    if isinstance(part, ToolPart):
        return isinstance(part.state, ToolCompleted | ToolFailed)
    return isinstance(part, TextPart | ReasoningPart | FilePart | AgentPart)


def _find_part(session: Session, message_id: str, part_id: str) -> Part:
    part = session.parts.filter(pk=part_id, message=message_id).first()
    if part is None:
        raise NotFound("Part", part_id)
    return part


def _forget_empty_rollback(session: Session) -> None:
    """Nothing is left that could be brought back."""
    if session.hidden_from is not None and not (
        Message.objects.hidden(session).exists() or Part.objects.hidden(session).exists()
    ):
        append(session, [SessionReverted()])
