"""Roll history back with its files, and bring it back.

The next prompt makes it final: `sessions.inbox`.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any, Literal

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, NotFound
from opencode_web.lib.hunks import HunkRange
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.reasons import Cause
from sessions.access import SessionAccess
from sessions.actions.rest import lock_at_rest
from sessions.changes.restore_request import RestoreRequest, write_request
from sessions.changes.steps import changed_steps
from sessions.changes.turn_diffs import is_changed_since, summary_events
from sessions.checkouts.rows import at_work
from sessions.context_use import restored_context
from sessions.events.reasons import RestoreReason
from sessions.events.removal import Restored, Rollback, SessionReverted
from sessions.events.store import append
from sessions.events.types import SessionStatus
from sessions.inbox import removal_events
from sessions.models import Message, Part, Session
from sessions.todos import restored_todos
from sessions.wake import wake
from sessions.wire import to_ms
from teams.audit import AuditAction, record

# What makes a message worth keeping when the rest of it is rolled back.
_USEFUL = ("text", "tool")
_CHANGING = ("write", "edit", "multiedit", "apply_patch", "bash")


@dataclass(frozen=True)
class _Point:
    """Where a rollback begins. `seq`: the first sequence number that is hidden."""

    message_id: str
    part_id: str | None
    seq: int


@transaction.atomic
def revert_session(
    access: SessionAccess, message_id: str, *, part_id: str | None = None, files: bool = True
) -> Session:
    """Hide a message and everything after it; with `part_id`, an answer from that part on.

    Files that were changed from there on go back, too. Only the host that has them can do it, so
    the session is busy until a worker there has done both. Without such files it is done at once. A
    session that is rolled back already is rolled back to the new place instead, earlier or later.
    Without `files` only messages are hidden.

    Returns: the session, busy while its files are put back.
    Raises: NotFound; SessionBusy; Conflict when files have gone back and are to stay as they are.
    Source: behaviour of OpenCode's revert.
    """
    session = lock_at_rest(access)
    point = _find_point(session, message_id, part_id)
    owner = point.message_id if point.part_id else None
    if not files:
        if _has_restored(session):
            raise Conflict(_("Files have gone back with it already. Clear that rollback first."))
        kept = Rollback(messageID=point.message_id, restored=_untouched(RestoreReason.AS_ASKED))
        _revert_messages(access, session, kept, hidden_from=point.seq)
    elif _has_restored(session) or changed_steps(session, from_seq=point.seq, message_id=owner):
        fields = {"message_id": point.message_id, "part_id": point.part_id, "from_seq": point.seq}
        _ask_for(access, session, "revert", **fields)
    else:
        restored = _untouched(RestoreReason.UNRECORDED) if _has_unrecorded(session, point) else None
        revert = Rollback(messageID=point.message_id, partID=point.part_id, restored=restored)
        _revert_messages(access, session, revert, hidden_from=point.seq)
    _record(AuditAction.SESSION_REVERTED, access, session)
    return session


@transaction.atomic
def unrevert_session(access: SessionAccess) -> Session:
    """Show again what was rolled back, and bring its files back; nothing happens when nothing was.

    Returns: as `revert_session`. Raises: SessionBusy.
    """
    session = lock_at_rest(access)
    if session.hidden_from is None:
        return session
    if _has_restored(session):
        _ask_for(access, session, "unrevert")
    else:
        _revert_messages(access, session, None, hidden_from=None)
    _record(AuditAction.SESSION_UNREVERTED, access, session)
    return session


@transaction.atomic
def commit_revert(access: SessionAccess) -> Session:
    """Make a rollback final, as the next prompt would. Does nothing when there is none.

    Raises: SessionBusy.
    """
    session = lock_at_rest(access)
    append(session, removal_events(session))
    return session


@transaction.atomic
def revert_file(access: SessionAccess, scope: str, file: str, *, old: str = "") -> Session:
    """Put one file back as it was before the turn of the prompt `scope`; `old` is its name there,
    when it was renamed since. No message is hidden.

    Returns: as `revert_session`. Raises: NotFound when that turn has not changed it; SessionBusy.
    """
    session = lock_at_rest(access)
    prompt = Message.objects.visible(session).filter(pk=scope, role="user").first()
    if prompt is None or not is_changed_since(session, prompt, file, old):
        raise NotFound("Changed file", file)
    _ask_for(access, session, "file", scope=scope, file=file, old=old)
    _record(AuditAction.FILE_REVERTED, access, session, file=file, **({"old": old} if old else {}))
    return session


@transaction.atomic
def revert_uncommitted(
    access: SessionAccess,
    file: str,
    *,
    old: str = "",
    hunk: HunkRange | None = None,
    looked: str = "",
) -> Session:
    """Put one file back as the last commit has it; `old` is its name there. It is unstaged,
    also once it is undone. With `hunk` only those lines, in the state `looked` of the file.

    Returns: as `revert_session`. Raises: SessionBusy; Conflict while another session works there.
    """
    session = require_files_at_rest(access)
    lines = astuple(hunk) if hunk else None
    _ask_for(access, session, "head", file=file, old=old, hunk=lines, looked=looked)
    data: JsonObject = {"file": file, "old": old, "to": "last commit"}
    if hunk:
        data["lines"] = [hunk.new, hunk.new_count]
    _record(AuditAction.FILE_REVERTED, access, session, **data)
    return session


@transaction.atomic
def require_files_at_rest(access: SessionAccess) -> Session:
    """Returns: the locked session. Raises: SessionBusy; Conflict while another works there."""
    session = lock_at_rest(access)
    if at_work(session.project_id, session.folder).exclude(pk=session.pk).exists():
        raise Conflict(_("Another session works on these files. Wait until it is done."))
    return session


def note_staged(access: SessionAccess, file: str, *, staged: bool) -> None:
    """Write down who staged lines of a file, or took them back."""
    action = AuditAction.FILE_STAGED if staged else AuditAction.FILE_UNSTAGED
    _record(action, access, access.session, file=file)


@transaction.atomic
def undo_file_revert(access: SessionAccess, file: str) -> Session:
    """Bring back what the two above took back. It can be done until the next prompt.

    Returns: as `revert_session`. Raises: NotFound when there is nothing to undo; SessionBusy.
    """
    session = lock_at_rest(access)
    reverted = [one for one in session.file_reverts if one["file"] == file]
    if not reverted:
        raise NotFound("Reverted file", file)
    _ask_for(access, session, "undo", scope=reverted[0]["scope"], file=file)
    _record(AuditAction.FILE_RESTORED, access, session, file=file)
    return session


def _untouched(reason: RestoreReason) -> Restored:
    return Restored(cause=Cause(reason).to_json())


def _has_restored(session: Session) -> bool:
    """Whether files went back with the rollback that is in force."""
    return bool(session.revert.get("snapshot"))


def _has_unrecorded(session: Session, point: _Point) -> bool:
    """Whether something is rolled back that may have changed files of which nothing is known."""
    hidden = session.parts.filter(seq__gte=point.seq, type="tool", data__tool__in=_CHANGING)
    return hidden.filter(data__state__status="completed").exists()


def _ask_for(
    access: SessionAccess,
    session: Session,
    kind: Literal["revert", "unrevert", "file", "head", "undo"],
    **fields: Any,  # of RestoreRequest, which checks them
) -> None:
    request = RestoreRequest(
        kind=kind,
        at=to_ms(timezone.now()),
        seq=session.seq,
        by_id=access.principal.user.pk,
        outcome=session.outcome,
        cause=session.outcome_reason,
        detail=session.outcome_detail,
        **fields,
    )
    write_request(session, request)
    append(session, [SessionStatus(state="busy", by_id=request.by_id)])
    wake(session.pk, session.project)


def _revert_messages(
    access: SessionAccess, session: Session, revert: Rollback | None, *, hidden_from: int | None
) -> None:
    by_id = access.principal.user.pk
    append(session, [SessionReverted(revert=revert, hidden_from=hidden_from, by_id=by_id)])
    append(session, [*summary_events(session), *restored_todos(session)])
    append(session, restored_context(session))


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


def _record(
    action: AuditAction, access: SessionAccess, session: Session, **data: JsonValue
) -> None:
    record(action, actor=access.principal.user, team=access.team.team, target=session, data=data)
