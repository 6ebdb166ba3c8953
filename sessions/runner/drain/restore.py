"""Put files of a session back, as somebody has asked (`sessions.changes.restore_request`).

It runs like a turn: on the host that has the files, under the session's lease, taken up by another
worker when this one dies. A stop does not cut it in two.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from django.db import transaction

from opencode_web.lib.db import in_db
from opencode_web.lib.hunks import HunkRange
from opencode_web.lib.reasons import Cause
from opencode_web.lib.telemetry import operation
from sessions.changes.restore_request import RestoreRequest, read_request, write_request
from sessions.changes.steps import ChangedStep, changed_steps
from sessions.changes.turn_diffs import summary_events
from sessions.context_use import restored_context
from sessions.events.projectors.rows import from_ms
from sessions.events.reasons import RestoreReason, read_cause
from sessions.events.removal import FileReverted, KeptFile, Restored, Rollback, SessionReverted
from sessions.events.store import append, lock_session
from sessions.events.types import SessionEvent, SessionStatus
from sessions.git.snapshots import SnapshotError, SnapshotGone, Snapshots, SnapshotsOff
from sessions.models import Message, Session
from sessions.runner.drain.endings import forget_stop, leave
from sessions.runner.files.changes import left_out_cause
from sessions.runner.files.restore_commit import (
    names_of,
    plan_last_commit,
    record_exactly,
    require_looked,
    undo_tree,
)
from sessions.runner.files.restore_files import carry_out, describe, list_kept
from sessions.runner.files.restore_plan import plan_before, plan_undo
from sessions.runner.log.lease import Lease
from sessions.runner.log.steps import RestoreStep
from sessions.secrets import project_redactor
from sessions.todos import restored_todos
from tools.redaction import Redactor

logger = logging.getLogger(__name__)

MAX_TRIES = 3


@dataclass(frozen=True)
class _Rows:
    """What the rows say about a request."""

    steps: list[ChangedStep]
    revert: Rollback | None
    # What went back of the file before.
    restored: Restored | None
    # When the first of what is rolled back was written.
    since_ms: int = 0


def begin_restore(session: Session, lease: Lease) -> RestoreStep:
    """What a drain does first in a locked session whose files are to be put back."""
    request = read_request(session)
    assert request is not None
    # A stop that was asked for meanwhile has nothing to stop.
    forget_stop(session)
    if lease.taken_over:
        request = request.model_copy(update={"tries": request.tries + 1})
        write_request(session, request)
    return RestoreStep(session, request)


async def run_restore(step: RestoreStep, lease: Lease) -> None:
    """Do it, and end the drain. Raises: LeaseLost."""
    request = step.request
    with operation("restore", session=lease.session_id, what=request.kind) as done:
        events: list[SessionEvent]
        if request.tries >= MAX_TRIES:
            events = [_failure(Cause(RestoreReason.GAVE_UP, {"tries": request.tries}))]
        else:
            events = await _restore(step.session, request, lease)
        status = events[-1]
        if isinstance(status, SessionStatus) and status.outcome == "failed":
            done.outcome = "error"
        await in_db(_settle, lease, events, request)


@transaction.atomic
def _settle(lease: Lease, events: list[SessionEvent], request: RestoreRequest) -> None:
    session = lock_session(lease.session_id, token=lease.token)
    redactor = project_redactor(session.project_id)
    for event in events:
        append(session, [_masked(event, redactor)])
        if isinstance(event, SessionReverted):
            append(session, [*summary_events(session), *restored_todos(session)])
            append(session, restored_context(session))
    write_request(session, None)
    leave(session, lease, since=from_ms(request.at))


def _masked(event: SessionEvent, redactor: Redactor) -> SessionEvent:
    """What it says of files is for people: they are put back by their snapshots."""
    shown = redactor.json(event.model_dump(mode="json"), keys=False)
    return type(event).model_validate(shown)


async def _restore(session: Session, request: RestoreRequest, lease: Lease) -> list[SessionEvent]:
    """Returns: the closing events, the status last."""
    snapshots = Snapshots(session)
    rows = await in_db(_read_rows, session, request)
    try:
        now = request.snapshot or await _record(session, snapshots, request)
        if not request.snapshot:
            # Before anything is changed: whoever takes over must not record a half of it.
            await in_db(_keep_snapshot, lease, request, now)
        if request.kind in ("revert", "unrevert"):
            return await _move(snapshots, request, rows, now)
        return await _one_file(session, snapshots, request, rows, now)
    except (SnapshotGone, SnapshotsOff) as exc:
        cause = Cause(RestoreReason.SNAPSHOTS_OFF, {"reason": str(exc)})
        if isinstance(exc, SnapshotGone):
            cause = Cause(RestoreReason.SNAPSHOTS_GONE)
        return _without_files(request, cause)
    except (SnapshotError, OSError) as exc:
        logger.warning("restore.failed session=%s %s", session.pk, exc)
        return [_failure(Cause(RestoreReason.FAILED, {"reason": str(exc).rstrip(".")}))]


async def _record(session: Session, snapshots: Snapshots, request: RestoreRequest) -> str:
    now = await snapshots.track()
    if request.kind != "head":
        return now
    tree = await record_exactly(snapshots, now, names_of(request.file, request.old))
    if request.hunk:
        await require_looked(session, request.file, request.old, request.looked)
    return tree


def _read_rows(session: Session, request: RestoreRequest) -> _Rows:
    fresh = Session.objects.get(pk=session.pk)
    steps = list[ChangedStep]()
    match request.kind:
        case "revert":
            owner = request.message_id if request.part_id else None
            steps = changed_steps(fresh, from_seq=request.from_seq, message_id=owner)
        case "file":
            start = Message.objects.filter(session=fresh, pk=request.scope)
            from_seq = start.values_list("seq", flat=True).first() or 0
            steps = changed_steps(fresh, from_seq=from_seq, before_seq=fresh.visible_before)
    found = [one["restored"] for one in fresh.file_reverts if one["file"] == request.file]
    restored = Restored.model_validate(found[0]) if found else None
    revert = Rollback.model_validate(fresh.revert) if fresh.revert else None
    hidden = fresh.messages.filter(seq__gte=request.from_seq).order_by("seq")
    since = hidden.values_list("data__time__created", flat=True).first()
    return _Rows(steps, revert, restored, since_ms=since or 0)


@transaction.atomic
def _keep_snapshot(lease: Lease, request: RestoreRequest, tree: str) -> None:
    session = lock_session(lease.session_id, token=lease.token)
    write_request(session, request.model_copy(update={"snapshot": tree}))


async def _move(
    snapshots: Snapshots, request: RestoreRequest, rows: _Rows, now: str
) -> list[SessionEvent]:
    """Roll back, to another place when something is rolled back already, or bring all back."""
    earlier = rows.revert.restored if rows.revert else None
    back = await plan_undo(snapshots, earlier)
    base = earlier.snapshot if earlier and earlier.snapshot else now
    plan = (await plan_before(snapshots, rows.steps, end=base)).over(back)
    outcome = await carry_out(snapshots, plan, now)
    if request.kind == "unrevert":
        kept = list_kept(outcome)
        return [SessionReverted(by_id=request.by_id, kept=kept or None), _status(request, kept)]
    restored, diff = await describe(snapshots, outcome, base)
    left_out = left_out_cause(await snapshots.left_out(rows.since_ms))
    if left_out is not None:
        restored = restored.model_copy(update={"cause": left_out.to_json()})
    return [_reverted(request, restored, diff), _status(request, [])]


def _reverted(request: RestoreRequest, restored: Restored, diff: str) -> SessionReverted:
    revert = Rollback(
        messageID=request.message_id,
        partID=request.part_id,
        snapshot=restored.snapshot or None,
        diff=diff or None,
        restored=restored,
    )
    return SessionReverted(revert=revert, hidden_from=request.from_seq, by_id=request.by_id)


async def _one_file(
    session: Session, snapshots: Snapshots, request: RestoreRequest, rows: _Rows, now: str
) -> list[SessionEvent]:
    undo = request.kind == "undo"
    if undo:
        plan = await plan_undo(snapshots, rows.restored)
    elif request.kind == "head":
        names = names_of(request.file, request.old)
        hunk = HunkRange(*request.hunk) if request.hunk else None
        plan = await plan_last_commit(session, snapshots, names, now, hunk=hunk)
    else:
        plan = (await plan_before(snapshots, rows.steps, end=now)).only(request.file, request.old)
    if not plan.wanted:
        return [_failure(Cause(RestoreReason.UNCHANGED, {"file": request.file}))]
    outcome = await carry_out(snapshots, plan, now)
    base = await undo_tree(snapshots, None if undo else rows.restored, plan.wanted, now)
    restored, _ = await describe(snapshots, outcome, base)
    if restored.kept:
        return [_status(request, restored.kept)]
    event = FileReverted(
        scope=request.scope,
        file=request.file,
        restored=restored,
        undone=undo,
        partly=plan.is_part or None,
        by_id=request.by_id,
    )
    return [event, _status(request, [])]


def _without_files(request: RestoreRequest, cause: Cause) -> list[SessionEvent]:
    """Messages are rolled back and come back all the same, and it is said that files do not."""
    match request.kind:
        case "revert":
            return [_reverted(request, Restored(cause=cause.to_json()), ""), _status(request, [])]
        case "unrevert":
            status = SessionStatus(state="idle", outcome=request.outcome).saying(cause)
            return [SessionReverted(by_id=request.by_id), status]
        case _:
            return [_failure(cause)]


def _status(request: RestoreRequest, kept: list[KeptFile]) -> SessionStatus:
    """The session is as it was before, but for files that stay as they are."""
    told = read_cause(request.cause) or request.detail
    if kept:
        names = ", ".join(one.file for one in kept[:3])
        told = Cause(RestoreReason.KEPT, {"names": names, "reason": kept[0].reason})
        if more := kept[3:]:
            told = Cause(RestoreReason.MANY_KEPT, {**told.values, "more": len(more)})
    return SessionStatus(state="idle", outcome=request.outcome).saying(told)


def _failure(cause: Cause) -> SessionStatus:
    return SessionStatus(state="idle", outcome="failed").saying(cause)
