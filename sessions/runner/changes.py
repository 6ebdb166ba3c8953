"""What a turn changed in the worktree, from the snapshots around its steps."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from opencode_web.lib.db import in_db
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from sessions.events.messages import UserMessage
from sessions.events.parts import PatchPart
from sessions.events.types import MessageUpdated, PartUpdated, SessionEvent, SessionUpdated
from sessions.models import Message, Part, Session
from sessions.snapshots import FileChange, SnapshotError, Snapshots, SnapshotsOff

logger = logging.getLogger(__name__)

# The log keeps the diffs of a turn only up to here; the counts are always whole.
MAX_DIFF_CHARS = 400_000


# A stop does not wait longer for git; the turn then has no summary.
STOPPED_S = 3.0


@dataclass(frozen=True)
class _Trees:
    """The hashes around the steps of a turn, in order, and where the last step was left open."""

    hashes: list[str]
    open_message: str | None


def _trees_of(session: Session, prompt_id: str) -> _Trees:
    prompt = Message.objects.filter(pk=prompt_id, session=session)
    rows = Part.objects.filter(
        session=session,
        type__in=("snapshot", "step-finish"),
        message__seq__gt=prompt.values("seq"),
    ).order_by("seq", "id")
    found = [row for row in rows if "snapshot" in row.data]
    is_open = bool(found) and found[-1].type == "snapshot"
    return _Trees(
        [row.data["snapshot"] for row in found], found[-1].message_id if is_open else None
    )


async def changed_files(snapshots: Snapshots, before: str, after: str) -> list[str]:
    """Returns: the names of the files that differ; none, and a line in the log, when git fails."""
    try:
        return await snapshots.changed_files(before, after)
    except SnapshotsOff:
        return []  # said once already
    except (SnapshotError, OSError) as exc:
        logger.warning("snapshot.diff_failed %s", exc)
        return []


async def take_snapshot(snapshots: Snapshots) -> str | None:
    """Returns: the hash of the worktree as it is; None when git could not take it."""
    try:
        return await snapshots.track()
    except SnapshotsOff:
        return None
    except (SnapshotError, OSError) as exc:
        logger.warning("snapshot.failed %s", exc)
        return None


async def turn_summary(session: Session, prompt_id: str) -> list[SessionEvent]:
    """Returns: events that give the prompt its diffs and the session its counts, if any.

    A step that was left open, by a stop or a fault, gets its patch here.
    """
    trees = await in_db(_trees_of, session, prompt_id)
    if not trees.hashes:
        return []
    snapshots, events = Snapshots(session), list[SessionEvent]()
    first, last = trees.hashes[0], trees.hashes[-1]
    if trees.open_message is not None:
        before, last = last, await take_snapshot(snapshots) or last
        files = await changed_files(snapshots, before, last)
        if files:
            address = {"sessionID": session.pk, "messageID": trees.open_message}
            patch = PatchPart(id=new_id("prt"), hash=before, files=files, **address)
            events.append(PartUpdated(part=patch))
    try:
        changes = await snapshots.changes(first, last)
    except (SnapshotError, OSError) as exc:
        logger.warning("snapshot.diff_failed session=%s %s", session.pk, exc)
        return events
    if changes:
        events += await in_db(_summary_events, session, prompt_id, changes)
    return events


def _summary_events(
    session: Session, prompt_id: str, changes: list[FileChange]
) -> list[SessionEvent]:
    fresh = Session.objects.get(pk=session.pk)
    prompt = fresh.messages.get(pk=prompt_id)
    info = UserMessage.model_validate(prompt.data)
    summary: JsonObject = {"diffs": [change.to_wire() for change in _bounded(changes)]}
    return [
        MessageUpdated(
            info=info.model_copy(update={"summary": summary}), author_id=prompt.author_id
        ),
        SessionUpdated(summary=_add_up(fresh.summary, changes)),
    ]


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
    session = stopping.select_related("project").first()
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
        kept.append(
            FileChange(change.file, change.status, change.additions, change.deletions, patch)
        )
    return kept


def _add_up(before: JsonObject, changes: list[FileChange]) -> JsonObject:
    def count(key: str) -> int:
        value = before.get(key, 0)
        return value if isinstance(value, int) else 0

    return {
        "additions": count("additions") + sum(change.additions for change in changes),
        "deletions": count("deletions") + sum(change.deletions for change in changes),
        "files": count("files") + len(changes),
    }
