"""What a turn changed in the worktree, from the snapshots around its steps."""

from __future__ import annotations

import logging

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject
from sessions.events.messages import UserMessage
from sessions.events.types import MessageUpdated, SessionEvent, SessionUpdated
from sessions.models import Message, Part, Session
from sessions.snapshots import FileChange, SnapshotError, Snapshots, SnapshotsOff

logger = logging.getLogger(__name__)

# The log keeps the diffs of a turn only up to here; the counts are always whole.
MAX_DIFF_CHARS = 400_000


def _snapshots_of(session: Session, prompt_id: str) -> list[str]:
    """The hashes around the steps of a prompt's turn, in order."""
    prompt = Message.objects.filter(pk=prompt_id, session=session)
    rows = Part.objects.filter(
        session=session,
        type__in=("snapshot", "step-finish"),
        message__seq__gt=prompt.values("seq"),
    ).order_by("seq", "id")
    return [data["snapshot"] for data in rows.values_list("data", flat=True) if "snapshot" in data]


def _before(session: Session, prompt_id: str) -> tuple[Message, JsonObject]:
    """The prompt, and the session's summary before its turn."""
    fresh = Session.objects.get(pk=session.pk)
    return fresh.messages.get(pk=prompt_id), fresh.summary


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
    """Returns: events that give the prompt its diffs and the session its counts, if any."""
    hashes = await in_db(_snapshots_of, session, prompt_id)
    if len(hashes) < 2:
        return []
    try:
        changes = await Snapshots(session).changes(hashes[0], hashes[-1])
    except (SnapshotError, OSError) as exc:
        logger.warning("snapshot.diff_failed session=%s %s", session.pk, exc)
        return []
    if not changes:
        return []
    prompt, before = await in_db(_before, session, prompt_id)
    info = UserMessage.model_validate(prompt.data)
    summary: JsonObject = {"diffs": [change.to_wire() for change in _bounded(changes)]}
    return [
        MessageUpdated(
            info=info.model_copy(update={"summary": summary}), author_id=prompt.author_id
        ),
        SessionUpdated(summary=_add_up(before, changes)),
    ]


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
