"""Roll history back, and bring it back. The next prompt makes it final: `sessions.inbox`."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from opencode_web.lib.errors import NotFound
from sessions.access import SessionAccess
from sessions.actions.rest import lock_at_rest
from sessions.events.removal import Revert, SessionReverted
from sessions.events.store import append
from sessions.models import Message, Part, Session
from teams.audit import AuditAction, record

# What makes a message worth keeping when the rest of it is rolled back.
_USEFUL = ("text", "tool")


@dataclass(frozen=True)
class _Point:
    """Where a rollback begins. `seq`: the first sequence number that is hidden."""

    message_id: str
    part_id: str | None
    seq: int


@transaction.atomic
def revert_session(
    access: SessionAccess, message_id: str, *, part_id: str | None = None
) -> Session:
    """Hide a message and everything after it; with `part_id`, an answer from that part on.

    A session that is rolled back already is rolled back to the new place instead, earlier or later.
    Files are not touched: the event has room for the snapshot from which they come back.

    Raises: NotFound; SessionBusy.
    Source: behaviour of OpenCode's revert.
    """
    session = lock_at_rest(access)
    point = _find_point(session, message_id, part_id)
    revert = Revert(messageID=point.message_id, partID=point.part_id)
    by_id = access.principal.user.pk
    append(session, [SessionReverted(revert=revert, hidden_from=point.seq, by_id=by_id)])
    _record(AuditAction.SESSION_REVERTED, access, session)
    return session


@transaction.atomic
def unrevert_session(access: SessionAccess) -> Session:
    """Show again what was rolled back; nothing happens when nothing was. Raises: SessionBusy."""
    session = lock_at_rest(access)
    if session.hidden_from is not None:
        append(session, [SessionReverted(by_id=access.principal.user.pk)])
        _record(AuditAction.SESSION_UNREVERTED, access, session)
    return session


def _find_point(session: Session, message_id: str, part_id: str | None) -> _Point:
    message = session.messages.filter(pk=message_id).first()
    if message is None:
        raise NotFound("Message", message_id)
    if part_id is not None:
        part = message.parts.filter(pk=part_id).first()
        if part is None:
            raise NotFound("Part", part_id)
        if _has_useful_parts(message, before=part):
            return _Point(message.pk, part.pk, part.seq)
    # Half a turn without anything useful in it is no place to go on from: its prompt goes too.
    prompts = session.messages.filter(role="user", seq__lte=message.seq).order_by("-seq")
    start = prompts.first() or message
    return _Point(start.pk, None, start.seq)


def _has_useful_parts(message: Message, *, before: Part) -> bool:
    return message.parts.filter(type__in=_USEFUL, seq__lt=before.seq).exists()


def _record(action: AuditAction, access: SessionAccess, session: Session) -> None:
    record(action, actor=access.principal.user, team=access.team.team, target=session)
