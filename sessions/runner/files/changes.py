"""What a turn changed in the worktree, from the snapshots around its steps."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import pairwise

from django.db.models import QuerySet, Subquery
from django.db.models.functions import Coalesce

from opencode_web.lib.compiled import CompiledQuery
from opencode_web.lib.db import in_db
from opencode_web.lib.disk import is_disk_full
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.reasons import Cause, Value, english
from sessions.changes.steps import ChangedStep, changed_steps
from sessions.changes.turn_diffs import summary_events
from sessions.events.messages import UserMessage
from sessions.events.parts import PatchPart, SnapshotPart
from sessions.events.reasons import RestoreReason
from sessions.events.types import MessageUpdated, PartUpdated, SessionEvent
from sessions.git.snapshot_diffs import Changes, FileChange, Names
from sessions.git.snapshot_files import MAX_NEW_FILE_BYTES, LeftOut
from sessions.git.snapshots import SnapshotError, Snapshots, SnapshotsOff
from sessions.models import Event, Message, Session
from sessions.secrets import project_redactor
from tools.redaction import Redactor

logger = logging.getLogger(__name__)

# The log keeps the diffs of a turn only up to here; the counts are always whole.
MAX_DIFF_CHARS = 400_000


_SHOWN_LEFT_OUT = 5
# A stop does not wait longer for git; the turn then has no summary.
STOPPED_S = 3.0


async def changed_files(snapshots: Snapshots, before: str, after: str) -> Names:
    """Returns: the names of the files that differ; none, and a line in the log, when git fails."""
    try:
        return await snapshots.changed_files(before, after)
    except SnapshotsOff:
        return Names([])  # said once already
    except (SnapshotError, OSError) as exc:
        logger.warning("snapshot.diff_failed %s", exc)
        return Names([])


def patch_part(before: str, files: Names, redactor: Redactor, **address: str) -> PatchPart:
    """The part that tells what a step has changed. `address`: of its message."""
    # A command can name a file after a secret. Files are put back by their snapshots.
    shown = redactor.json(list[JsonValue](files.names))
    part = PatchPart(id=new_id("prt"), hash=before, files=[str(one) for one in shown], **address)
    return part.model_copy(update={"more": files.more}) if files.more else part


async def take_snapshot(snapshots: Snapshots) -> str | None:
    """Returns: the hash of the worktree as it is; None when git could not take it.

    Raises: OSError when the disk is full.
    """
    try:
        return await snapshots.track()
    except SnapshotsOff:
        return None
    except (SnapshotError, OSError) as exc:
        if is_disk_full(exc):
            # What is changed without a snapshot cannot be rolled back.
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from exc
        logger.warning("snapshot.failed %s", exc)
        return None


async def turn_summary(session: Session, prompt_id: str) -> list[SessionEvent]:
    """Returns: events that give the prompt its diffs and the session its counts, if any.

    A prompt that was added while the agent worked has its own; those before it get theirs here,
    too. A step that was left open, by a stop or a fault, gets its patch here.
    """
    events = list[SessionEvent]()
    spans = await in_db(_unsummed_spans, session, prompt_id)
    if not spans:
        return []
    snapshots, changed = Snapshots(session), list[_Changed]()
    try:
        for span in spans:
            events += await _close_step(snapshots, session, span)
            changes = await _changes_of(snapshots, span.steps)
            left_out = await snapshots.left_out(span.since_ms) if span is spans[-1] else []
            if changes.total or left_out:
                changed.append(_Changed(span.prompt_id, changes, left_out_cause(left_out)))
    except SnapshotsOff:
        return events  # said once already
    except (SnapshotError, OSError) as exc:
        logger.warning("snapshot.diff_failed session=%s %s", session.pk, exc)
        return events
    if changed:
        events += await in_db(_summary_events, session, changed)
    return events


@dataclass(frozen=True)
class _Changed:
    """`left_out` is about files that no snapshot has."""

    prompt_id: str
    changes: Changes
    left_out: Cause | None


def left_out_cause(left_out: list[LeftOut]) -> Cause | None:
    """Returns: what people are told of files that no snapshot has; None when none was left out."""
    if not left_out:
        return None
    shown = ", ".join(
        f"{one.file} ({one.size_bytes / 1024 / 1024:.1f} MB)" for one in left_out[:_SHOWN_LEFT_OUT]
    )
    limit = MAX_NEW_FILE_BYTES // 1024 // 1024
    values: dict[str, Value] = {"limit": limit, "names": shown}
    if more := left_out[_SHOWN_LEFT_OUT:]:
        return Cause(RestoreReason.MANY_LEFT_OUT, {**values, "more": len(more)})
    return Cause(RestoreReason.LEFT_OUT, values)


def _prompts_of_turn(session_id: str, prompt_id: str, before: int) -> QuerySet[Message]:
    prompt = Message.objects.filter(pk=prompt_id, session=session_id).values("seq")
    ended = Event.objects.filter(
        session=session_id, type="session.status", data__state="idle", seq__lt=Subquery(prompt)
    ).order_by("-seq")
    return (
        Message.objects.filter(session=session_id, role="user", seq__lte=Subquery(prompt))
        .filter(seq__gt=Coalesce(Subquery(ended.values("seq")[:1]), 0), seq__lt=before)
        .order_by("seq")
    )


_PROMPTS = CompiledQuery(_prompts_of_turn, str, str, int)


@dataclass
class _Span:
    """The steps of a prompt, up to the next prompt."""

    prompt_id: str
    since_ms: int
    steps: list[ChangedStep]


def _unsummed_spans(session: Session, prompt_id: str) -> list[_Span]:
    """Returns: what the turn has changed for each of its prompts, the oldest first."""
    prompts = _PROMPTS.all(session.pk, prompt_id, session.visible_before)
    if not prompts:
        return []
    spans = [_Span(one.pk, one.data["time"]["created"], []) for one in prompts]
    for step in changed_steps(session, from_seq=prompts[0].seq, unchanged=True):
        place = bisect_right([one.seq for one in prompts], step.seq) - 1
        spans[place].steps.append(step)
    # One that is summed up already was the turn before, which ended without a rest.
    summed = {one.pk for one in prompts if one.data.get("summary") and one.pk != prompt_id}
    return [span for span in spans if span.steps and span.prompt_id not in summed]


async def _close_step(snapshots: Snapshots, session: Session, span: _Span) -> list[SessionEvent]:
    """Record what a step has changed that was cut off."""
    if span.steps[-1].after is not None:
        return []
    step = span.steps[-1]
    after = await snapshots.track()
    span.steps[-1] = replace(step, after=after)
    address = {"sessionID": session.pk, "messageID": step.message_id}
    end = SnapshotPart(id=new_id("prt"), snapshot=after, **address)
    files = await snapshots.changed_files(step.before, after)
    if not files.names:
        return [PartUpdated(part=end)]
    redactor = await in_db(project_redactor, session.project_id)
    patch = patch_part(step.before, files, redactor, **address)
    return [PartUpdated(part=end), PartUpdated(part=patch)]


async def _changes_of(snapshots: Snapshots, steps: list[ChangedStep]) -> Changes:
    """What the steps have changed; not what somebody else has changed between them."""
    pairs = [(step.before, step.after) for step in steps if step.after is not None]
    if not pairs:
        return Changes([])
    own: set[str] | None = None
    if any(one[1] != other[0] for one, other in pairwise(pairs)):
        found = snapshots.entry_changes(pairs)
        own = {change.path.decode("utf-8", "replace") async for change in found}
    before, after = pairs[0][0], pairs[-1][1]
    changes = await snapshots.changes(before, after, own=own)
    return replace(changes, renames=await snapshots.renames(before, after, changes.files))


def _summary_events(session: Session, changed: list[_Changed]) -> list[SessionEvent]:
    fresh = Session.objects.get(pk=session.pk)
    events, infos = list[SessionEvent](), dict[str, JsonObject]()
    redactor = project_redactor(session.project_id)
    for one in changed:
        prompt = fresh.messages.get(pk=one.prompt_id)
        info = UserMessage.model_validate(prompt.data)
        # Patches are kept for good, and exported.
        renames, files = one.changes.renames, one.changes.files
        rows: list[JsonValue] = [
            redactor.json(change.to_wire()) for change in _bounded([*renames, *files])
        ]
        summary: JsonObject = {"diffs": rows[len(renames) :]}
        if renames:
            summary["renames"] = rows[: len(renames)]
        if rest := one.changes.rest():
            summary["more"] = rest
        if one.left_out:
            summary["body"] = redactor.text(english(one.left_out))
            summary["cause"] = redactor.json(one.left_out.to_json())
        info = info.model_copy(update={"summary": summary})
        events.append(MessageUpdated(info=info, author_id=prompt.author_id))
        if one.changes.total:
            infos[prompt.pk] = {"summary": summary}
    return [*(summary_events(fresh, infos) if infos else ()), *events]


async def stopped_summary(session_id: str) -> list[SessionEvent]:
    """Returns: as `turn_summary`, for the newest turn, which is about to be settled as stopped.

    Must be called under the lease, once nothing of the turn runs any more.
    """
    found = await in_db(_unsummed, session_id)
    if found is None:
        return []
    try:
        async with asyncio.timeout(STOPPED_S):
            return await turn_summary(*found)
    except TimeoutError:
        logger.warning("snapshot.stop_timeout session=%s", session_id)
        return []


def _unsummed(session_id: str) -> tuple[Session, str] | None:
    """A session that shall stop and its newest prompt, unless that is summed up already."""
    stopping = Session.objects.filter(pk=session_id, run__stop_requested_at__isnull=False)
    session = stopping.select_related("project").filter(run__restore={}).first()
    newest = session.messages.filter(role="user").order_by("-seq").first() if session else None
    if session is None or newest is None or newest.data.get("summary"):
        return None
    return session, newest.pk


def _bounded(changes: list[FileChange]) -> list[FileChange]:
    room = MAX_DIFF_CHARS
    kept = []
    for change in changes:
        patch = change.patch if len(change.patch) <= room else ""
        room -= len(patch)
        kept.append(replace(change, patch=patch))
    return kept
