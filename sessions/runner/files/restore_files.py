"""Carry a plan out: every file by itself, so that one that cannot go back stops no other."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from sessions.events.removal import KeptFile, Restored, RestoredFile
from sessions.git.snapshot_diffs import FileChange
from sessions.git.snapshots import Snapshots
from sessions.runner.files.restore_plan import Entries, Plan, to_text
from tools.files.put_back import Replacement, put_back

# What is listed of very many; the count is always whole.
MAX_LISTED = 500
MAX_DIFF_CHARS = 400_000
# Of one folder.
AT_ONCE = 200
# What is read before it is written.
_BATCH_FILES, _BATCH_BYTES = 5_000, 8 * 1024 * 1024
_SPARED = "somebody has changed it since"


@dataclass
class Outcome:
    """By path what was done, and by path why nothing was."""

    done: Entries = field(default_factory=dict)
    kept: dict[bytes, str] = field(default_factory=dict)
    meanwhile: set[bytes] = field(default_factory=set)


async def carry_out(snapshots: Snapshots, plan: Plan, now: str) -> Outcome:
    """Put the files of a plan back. `now` is the tree of the worktree as it is.

    Whatever of it was done before by a worker that died is done already.
    Raises: SnapshotError, before anything was changed.
    """
    present = await snapshots.entries(now, plan.wanted)
    outcome, removals = Outcome(), list[bytes]()
    writes = defaultdict[str, list[bytes]](list)
    for path, wanted in plan.wanted.items():
        there = present.get(path)
        if there == wanted:
            outcome.done[path] = wanted
            continue
        if there != plan.expected[path]:
            if path in plan.spared:
                outcome.kept[path] = _SPARED
                continue
            outcome.meanwhile.add(path)
        if wanted is None:
            removals.append(path)
        else:
            writes[wanted.hash].append(path)
    async with aclosing(snapshots.contents(writes)) as contents:
        # Once the first is here, none is missing. A file may be in the place of a folder.
        first = await anext(contents, None)
        gone = [Replacement(one, present.get(one), None) for one in sorted(removals, reverse=True)]
        for files in _by_folder(gone):
            await _put(snapshots, outcome, files)
        batch, room = list[Replacement](), _BATCH_BYTES
        while first is not None:
            blob, content = first
            for path in writes[blob]:
                batch.append(Replacement(path, present.get(path), plan.wanted[path], content))
                room -= len(content)
            first = await anext(contents, None)
            if first is None or len(batch) >= _BATCH_FILES or room < 0:
                for files in _by_folder(batch):
                    await _put(snapshots, outcome, files)
                batch, room = [], _BATCH_BYTES
    return outcome


def _by_folder(files: Sequence[Replacement]) -> Iterator[list[Replacement]]:
    """A few files of one folder at a time: it is locked for as long as they take."""
    found = defaultdict[bytes, list[Replacement]](list)
    for file in files:
        found[file.path.rpartition(b"/")[0]].append(file)
    for own in found.values():
        for start in range(0, len(own), AT_ONCE):
            yield own[start : start + AT_ONCE]


async def _put(snapshots: Snapshots, outcome: Outcome, files: Sequence[Replacement]) -> None:
    kept = await asyncio.to_thread(put_back, snapshots.worktree, files)
    outcome.kept |= kept
    outcome.done |= {file.path: file.wanted for file in files if file.path not in kept}


async def describe(snapshots: Snapshots, outcome: Outcome, base: str) -> tuple[Restored, str]:
    """What was done to the tree `base`, for the log. Returns: it, and a unified diff.

    Raises: SnapshotError.
    """
    after = await snapshots.with_entries(base, outcome.done)
    changes = await snapshots.changes(base, after)
    meanwhile = {to_text(path) for path in outcome.meanwhile}
    restored = Restored(
        snapshot=base,
        after=after,
        total=changes.total,
        files=[_listed(change, meanwhile) for change in changes.files[:MAX_LISTED]],
        kept=list_kept(outcome),
    )
    return restored, _join(changes.files)


def list_kept(outcome: Outcome) -> list[KeptFile]:
    """Returns: the first of the files that stay as they are."""
    kept = sorted(outcome.kept.items())[:MAX_LISTED]
    return [KeptFile(file=to_text(path), reason=reason) for path, reason in kept]


def _listed(change: FileChange, meanwhile: set[str]) -> RestoredFile:
    return RestoredFile(
        file=change.file,
        status=change.status,
        additions=change.additions,
        deletions=change.deletions,
        meanwhile=change.file in meanwhile,
    )


def _join(changes: list[FileChange]) -> str:
    text, room = "", MAX_DIFF_CHARS
    for change in changes:
        if len(change.patch) <= room:
            text += change.patch
            room -= len(change.patch)
    return text
