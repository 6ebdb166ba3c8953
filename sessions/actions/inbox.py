"""Prompts that wait: changed, put in another order or taken back until they are promoted."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, Forbidden, Invalid, NotFound, Settled
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.text import clean_text
from sessions.access import SessionAccess, may_change_input
from sessions.actions.prompts import MAX_TEXT_CHARS, admit_input
from sessions.events.hidden import hide_in_event
from sessions.events.inbox import (
    Delivery,
    InputAdmitted,
    InputCancelled,
    InputChanged,
    InputsReordered,
)
from sessions.events.mentions import with_people
from sessions.events.messages import MessageTime, UserMessage
from sessions.events.parts import AgentPart, AnyPart, FilePart, TextPart
from sessions.events.store import append, lock_session
from sessions.files import NOWHERE, resource_of
from sessions.inbox import is_compaction, parts_of, pending_inputs, sending_order
from sessions.models import Session, SessionInput
from sessions.part_ids import with_ascending_ids
from sessions.wire import to_ms
from teams.audit import AuditAction, record


@transaction.atomic
def change_input(
    access: SessionAccess,
    input_id: str,
    *,
    revision: int,
    text: str | None = None,
    delivery: Delivery | None = None,
) -> SessionInput:
    """Change the text of a waiting prompt, or when it is sent. Its files stay.

    `revision` must be the one that the caller saw, so that nobody's change is lost unseen.

    Raises: NotFound; Forbidden for a prompt that is not the caller's to change; Conflict once it
    was promoted or taken back, or when somebody changed it meanwhile; Invalid for a bad text.
    """
    session = lock_session(access.session.pk)
    row = _waiting(session, access, input_id)
    if row.revision != revision:
        raise Conflict(
            _("Someone else has changed this message. Read it again before you edit it."),
            revision=row.revision,
        )
    if is_compaction(row):
        raise Conflict(_("This entry has no text to edit. You can only remove it."))
    before, parts = parts_of(row), None
    if text is not None:
        parts = _with_text(before, _clean(text, before), access, message_id=row.pk)
    event = InputChanged(
        id=row.pk,
        parts=parts if parts != before else None,
        delivery=delivery if delivery != row.delivery else None,
        by_id=access.principal.user.pk,
    )
    if event.parts is not None or event.delivery is not None:
        append(session, [hide_in_event(session.project, event)])
        if event.parts is not None:
            # The row has only the newest edit.
            session.writers.add(access.principal.user)
        changed = {"text": event.parts is not None, "delivery": event.delivery is not None}
        keys: list[JsonValue] = [key for key, was in changed.items() if was]
        _record(AuditAction.PROMPT_CHANGED, access, session, message=row.pk, changes=keys)
        row.refresh_from_db()
    return row


@transaction.atomic
def cancel_input(access: SessionAccess, input_id: str) -> SessionInput:
    """Take a waiting prompt back. Returns: it, as it was.

    Raises: NotFound; Forbidden; Conflict once it was promoted.
    """
    session = lock_session(access.session.pk)
    row = _waiting(session, access, input_id)
    append(session, [InputCancelled(id=row.pk, by_id=access.principal.user.pk)])
    _record(AuditAction.PROMPT_CANCELLED, access, session, message=row.pk)
    return row


def restore_input(access: SessionAccess, input_id: str, *, message_id: str) -> SessionInput:
    """Send a prompt of the caller's once more that was taken back, as the message `message_id`.

    With an id that is there already nothing happens. Raises: NotFound; Forbidden for a prompt of
    somebody else; Conflict unless it was taken back, and when the session takes no prompts.
    """
    row = access.session.inputs.filter(pk=input_id).first()
    if row is None:
        raise NotFound("Prompt", input_id)
    if row.status != SessionInput.Status.CANCELLED:
        raise Conflict(_("This message was not removed."))
    if not can_restore(access, row):
        raise Forbidden(_("Only its author can send this message again."))
    info = UserMessage.model_validate(row.data["info"])
    made = {"id": message_id, "time": MessageTime(created=to_ms(timezone.now()))}
    parts = [
        part.model_copy(update={"id": new_id("prt"), "messageID": message_id})
        for part in parts_of(row)
    ]
    event = InputAdmitted(
        author_id=access.principal.user.pk,
        delivery=row.delivery,
        info=info.model_copy(update=made),
        parts=parts,
    )
    return admit_input(access.session.pk, event)


def can_restore(access: SessionAccess, row: SessionInput) -> bool:
    """Whether the caller may send a prompt again once it was taken back."""
    return row.author_id == access.principal.user.pk and not is_compaction(row)


@transaction.atomic
def reorder_inputs(access: SessionAccess, ids: Sequence[str]) -> list[SessionInput]:
    """Put the waiting prompts in this order. Steers are still sent before what is queued.

    Raises: Conflict unless `ids` are exactly those that wait.
    """
    session = lock_session(access.session.pk)
    pending = [row.pk for row in pending_inputs(session.pk)]
    if sorted(ids) != sorted(pending):
        raise Conflict(_("The queue has changed. Check it and try again."))
    if list(ids) != pending:
        _reorder(session, access, list(ids))
    return pending_inputs(session.pk)


@transaction.atomic
def move_input(access: SessionAccess, input_id: str, *, up: bool) -> None:
    """Swap a waiting prompt with its neighbour that is sent at the same kind of boundary.

    At the end of the list nothing happens. Raises: NotFound; Conflict once it was promoted.
    """
    session = lock_session(access.session.pk)
    _require_waiting(session, input_id)
    rows = sending_order(pending_inputs(session.pk))
    here = next(place for place, row in enumerate(rows) if row.pk == input_id)
    there = here - 1 if up else here + 1
    if not 0 <= there < len(rows) or rows[here].delivery != rows[there].delivery:
        return
    rows[here], rows[there] = rows[there], rows[here]
    _reorder(session, access, [row.pk for row in rows])


@transaction.atomic
def put_input(access: SessionAccess, input_id: str, *, before: str) -> None:
    """Put a waiting prompt before another one, or at the end where `before` is empty.

    Steers stay before what is queued. Raises: NotFound; Conflict once one of them was promoted.
    """
    session = lock_session(access.session.pk)
    _require_waiting(session, input_id)
    if before:
        _require_waiting(session, before)
    pending = [row.pk for row in sending_order(pending_inputs(session.pk))]
    rest = [pk for pk in pending if pk != input_id]
    place = rest.index(before) if before in rest else len(rest)
    ids = [*rest[:place], input_id, *rest[place:]]
    if before != input_id and ids != pending:
        _reorder(session, access, ids)


def _reorder(session: Session, access: SessionAccess, ids: list[str]) -> None:
    append(session, [InputsReordered(ids=ids, by_id=access.principal.user.pk)])
    _record(AuditAction.PROMPT_CHANGED, access, session, changes=["order"])


def _record(
    action: AuditAction, access: SessionAccess, session: Session, **data: JsonValue
) -> None:
    user, team = access.principal.user, access.team.team
    record(action, actor=user, team=team, target=session, data=data)


def _waiting(session: Session, access: SessionAccess, input_id: str) -> SessionInput:
    row = _require_waiting(session, input_id)
    if not may_change_input(access, row):
        text = _("Only {name}, the session's owner or a team admin can change this.")
        raise Forbidden(
            text.format(name=row.author.display_name if row.author else _("its author"))
        )
    return row


def _require_waiting(session: Session, input_id: str) -> SessionInput:
    row = session.inputs.filter(pk=input_id).select_related("author").first()
    if row is None:
        raise NotFound("Prompt", input_id)
    if row.status == SessionInput.Status.PROMOTED:
        raise Settled(_("The agent has already taken this message."))
    if row.status == SessionInput.Status.CANCELLED:
        raise Settled(_("This message was removed."))
    return row


def _clean(text: str, parts: list[AnyPart]) -> str:
    text = clean_text(text)
    if len(text) > MAX_TEXT_CHARS:
        raise Invalid(
            _("A prompt can have at most {count} characters.").format(
                count=number_format(MAX_TEXT_CHARS, force_grouping=True)
            )
        )
    if not text.strip() and not any(isinstance(part, FilePart | AgentPart) for part in parts):
        raise Invalid(_("The prompt is empty."))
    return text


def _with_text(
    parts: list[AnyPart], text: str, access: SessionAccess, *, message_id: str
) -> list[AnyPart]:
    """One text in place of the person's own. What they attached stays, but stands nowhere in it."""
    own = [part for part in parts if isinstance(part, TextPart) and not part.synthetic]
    if "\n\n".join(part.text for part in own) == text:
        return parts
    session_id = parts[0].sessionID
    first_id = own[0].id if own else new_id("prt")
    written = TextPart(id=first_id, sessionID=session_id, messageID=message_id, text=text)
    author = access.principal.user
    written = with_people(written, text, session=access.session, author=author)
    kept = [
        part.model_copy(update={"source": _without_place(part.source)})
        if isinstance(part, AgentPart | FilePart)
        else part
        for part in parts
        if part not in own
    ]
    return with_ascending_ids([written, *kept]) if text.strip() else kept


def _without_place(source: JsonObject | None) -> JsonObject | None:
    """A resource of an MCP server is told by nothing but its source."""
    if source is None or resource_of(source) is None:
        return None
    return {**source, "text": NOWHERE}
