"""Keep the snapshots that a session can still go back to, and let git pack or forget the rest.

A snapshot is a tree that nothing in its repository refers to: the rows of the sessions do. So
before anything is removed, every tree that a kept session names gets a ref of its own. A session is
kept while it was used within `SNAPSHOT_DAYS`, is at work, is under a legal hold, or has something
put back that can be undone. Of one that was not, messages still roll back; its files stay as they
are, and it is said.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonValue
from sessions.git.box import Box, BoxedGitError, git_environment
from sessions.git.snapshots import INDEX_PREFIX
from sessions.models import Part, Session, State
from sessions.retention.holds import held_among

logger = logging.getLogger(__name__)

# What was written last may belong to a step that no row names yet.
GRACE = "1.day.ago"
_TIMEOUT_S = 900.0
_LIMIT_BYTES = 64 * 1024 * 1024
_REFS = "refs/kept/"
_TREE = re.compile(r"[0-9a-f]{40,64}")
_CONFIG = {"pack.windowMemory": "64m", "pack.threads": "1", "core.bigFileThreshold": "2m"}
# By which a session names its snapshots, at whatever depth.
_NAMES = frozenset({"snapshot", "after"})


@dataclass(frozen=True)
class Pruned:
    """Units: bytes on disk, before and after."""

    before: int
    after: int


async def prune_snapshots(*, grace: str = GRACE) -> list[Pruned]:
    """Go through all repositories of snapshots on this host. One that fails stops no other."""
    root = Path(os.path.realpath(settings.DATA_DIR)) / "snapshots"
    done = []
    for git_dir in sorted(root.glob("*")):
        if not (git_dir / "objects" / "info").is_dir():
            continue
        try:
            done.append(await _prune(_Repository(git_dir), grace))
        except (BoxedGitError, OSError) as exc:
            logger.warning("snapshot.prune_failed repository=%s %s", git_dir.name, exc)
    return done


@dataclass(frozen=True)
class _Repository:
    git_dir: Path

    async def run(self, *arguments: str, given: str = "", index: Path | None = None) -> str:
        environment = git_environment(_CONFIG, home=self.git_dir)
        if index is not None:
            environment["GIT_INDEX_FILE"] = str(index)
        output = await Box(write=(self.git_dir,)).run(
            *("-C", str(self.git_dir), f"--git-dir={self.git_dir}"),
            *arguments,
            environment=environment,
            given=given.encode(),
            limit_bytes=_LIMIT_BYTES,
            timeout_s=_TIMEOUT_S,
        )
        if not output.whole:
            raise BoxedGitError("git says too much")
        return output.data.decode("ascii", "replace")

    def size_bytes(self) -> int:
        return sum(
            os.lstat(os.path.join(folder, name)).st_size  # noqa: PTH118  as os.walk gives them
            for folder, _, names in os.walk(self.git_dir / "objects")
            for name in names
        )


async def _prune(repository: _Repository, grace: str) -> Pruned:
    before = repository.size_bytes()
    wanted = await in_db(live_trees, repository.git_dir.name)
    wanted |= await _trees_of_indexes(repository)
    checked = await repository.run("cat-file", "--batch-check", given=_lines(wanted))
    kept = {line.split(" ")[0] for line in checked.splitlines() if " tree " in line}
    refs = await repository.run("for-each-ref", "--format=%(objectname)", _REFS)
    known = set(refs.split())
    changes = [f"create {_REFS}{tree} {tree}" for tree in sorted(kept - known)]
    changes += [f"delete {_REFS}{tree}" for tree in sorted(known - kept)]
    await repository.run("update-ref", "--stdin", given=_lines(changes))
    await repository.run("pack-refs", "--all", "--prune")
    # What nothing refers to leaves the packs with its age, and goes once it is old enough.
    await repository.run("repack", "-A", "-d", "-q", f"--unpack-unreachable={grace}")
    await repository.run("prune", f"--expire={grace}")
    after = repository.size_bytes()
    logger.info(
        "snapshot.pruned repository=%s kept=%d bytes=%d was=%d",
        *(repository.git_dir.name, len(kept), after, before),
    )
    return Pruned(before, after)


def _lines(items: Iterable[str]) -> str:
    return "".join(f"{item}\n" for item in items)


async def _trees_of_indexes(repository: _Repository) -> set[str]:
    """What the next snapshot of a session builds on. An index that is broken is made anew then."""
    trees = set()
    for index in repository.git_dir.glob(f"{INDEX_PREFIX}*"):
        if "." in index.name:  # a lock, or a list beside it
            continue
        try:
            trees.add((await repository.run("write-tree", index=index)).strip())
        except BoxedGitError:
            index.unlink(missing_ok=True)
    return trees


def live_trees(files_id: str) -> set[str]:
    """Returns: every tree that a kept session names, of those that work on these files."""
    since = timezone.now() - timedelta(days=settings.SNAPSHOT_DAYS)
    own = Q(project=files_id) | Q(pk=files_id) | Q(root=files_id)
    used = Q(updated_at__gte=since) | ~Q(state=State.IDLE)
    used |= ~Q(revert={}) | ~Q(file_reverts=[])
    used |= Q(pk__in=held_among(Session.objects.filter(own)))
    sessions = Session.objects.filter(own & used)
    rows = Part.objects.filter(
        session__in=sessions, type__in=("step-start", "snapshot", "step-finish")
    )
    trees = {
        tree
        for tree in rows.values_list("data__snapshot", flat=True).iterator()
        if isinstance(tree, str)
    }
    for row in sessions.values_list("revert", "file_reverts", "run__restore").iterator():
        trees.update(_named(list(row)))
    return {tree for tree in trees if _TREE.fullmatch(tree)}


def _named(value: JsonValue) -> set[str]:
    if isinstance(value, list):
        return set().union(*(_named(item) for item in value))
    if not isinstance(value, dict):
        return set()
    found = {str(item) for key, item in value.items() if key in _NAMES and item}
    return found.union(*(_named(item) for item in value.values()))
