"""The shadow git repository of a worktree: what its files were at a moment, and what changed since.

It has a git dir of its own below the data folder; the project's own repository is never touched.
Every session has its own index, so that two sessions of a project do not wait for each other.

Everything in the worktree is hostile. git runs in a sandbox (`shadow_git`), and it is never told to
add a folder: it lists files, and only files and links that were looked at here go into the index.
So there is never a nested repository in it for git to enter and to obey.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import stat
from dataclasses import dataclass, replace
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Literal

from django.conf import settings

from opencode_web.lib.json import JsonObject
from sessions.models import Session
from sessions.shadow_git import ATTRIBUTES, ShadowGit, ShadowGitError, ShadowGitOff

logger = logging.getLogger(__name__)

# A file that is not in the index yet stays out of it above this. Source: OpenCode's snapshots.
MAX_NEW_FILE_BYTES = 2 * 1024 * 1024
# One that is in the index keeps its older state there above this.
MAX_FILE_BYTES = 32 * 1024 * 1024
# git treats larger ones as binary, so it does not read them as a whole to compare them.
_MAX_DIFF_FILE = "2m"
MAX_PATCH_CHARS = 200_000
INDEX_PREFIX = "index-"
_MAX_PATCHES_BYTES = 4 * 1024 * 1024
_MAX_LIST_BYTES = 64 * 1024 * 1024
_HASH = re.compile(r"[0-9a-f]{40,64}")
_FLAGS = ("-r", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")


class SnapshotError(Exception):
    """git could not do it. A turn goes on without the snapshot."""


class SnapshotsOff(SnapshotError):
    """No snapshot of this worktree is ever taken on this host. It has been logged once."""


@dataclass(frozen=True)
class FileChange:
    """One changed file between two snapshots.

    `patch` is a unified diff, empty for a binary file and for a large one.
    """

    file: str
    status: Literal["added", "modified", "deleted"]
    additions: int
    deletions: int
    patch: str

    def to_wire(self) -> JsonObject:
        """Returns: `SnapshotFileDiff`."""
        return {
            "file": self.file,
            "status": self.status,
            "additions": self.additions,
            "deletions": self.deletions,
            "patch": self.patch,
        }


class Snapshots:
    """Snapshots for one session's worktree. Only the owner of the session's lease takes any."""

    def __init__(self, session: Session) -> None:
        root = Path(os.path.realpath(settings.DATA_DIR))
        self._git_dir = root / "snapshots" / session.project_id
        self._index = self._git_dir / f"{INDEX_PREFIX}{session.pk}"
        self._worktree = Path(os.path.realpath(session.project.directory))
        self._git = ShadowGit(self._worktree, self._git_dir, self._index)

    async def track(self) -> str:
        """Record the worktree as it is, without what its .gitignore leaves out, large new files
        and nested repositories.

        Returns: the tree's hash. Raises: SnapshotError.
        """
        await self._prepare()
        listed = await self._ask("ls-files", "-z", "-t", "-o", "-m", "-d", "--exclude-standard")
        changed = await asyncio.to_thread(_look_at, self._worktree, listed)
        try:
            if changed.gone:
                await self._index_paths("--force-remove", changed.gone)
            if changed.there:
                await self._index_paths("--replace", changed.there)
        finally:
            # Whatever ended git, a stop or a time limit, it is dead now and its lock binds nobody.
            self._unlock()
        return (await self._ask("write-tree")).decode().strip()

    async def changes(self, before: str, after: str) -> list[FileChange]:
        """Returns: the files that differ, by name. Raises: SnapshotError."""
        changes = await self._compare(before, after)
        if not changes:
            return []
        patches = _split_patches(await self._diff("--patch", before, after, cut=True))
        return list(_with_patches(changes, patches))

    async def changed_files(self, before: str, after: str) -> list[str]:
        """Returns: the names of the files that differ. Raises: SnapshotError."""
        return [change.file for change, _ in await self._compare(before, after)]

    async def _compare(self, before: str, after: str) -> list[tuple[FileChange, int]]:
        if before == after:
            return []
        return _read_changes(await self._diff("--raw", "--numstat", "-z", before, after))

    async def _diff(self, *arguments: str, cut: bool = False) -> str:
        if not all(_HASH.fullmatch(tree) for tree in arguments[-2:]):
            raise SnapshotError("that is not the hash of a snapshot")
        limit = ("-c", f"core.bigFileThreshold={_MAX_DIFF_FILE}", "diff-tree", *_FLAGS)
        size = _MAX_PATCHES_BYTES if cut else _MAX_LIST_BYTES
        data = await self._ask(*limit, *arguments, limit_bytes=size, cut=cut)
        return data.decode("utf-8", "replace")

    async def _prepare(self) -> None:
        # A worker that was killed leaves the lock of its git. The session has one owner: this one.
        self._unlock()
        # The last folder that `git init` makes.
        if (self._git_dir / "objects" / "info").exists():
            return
        attributes = self._git_dir / "info" / "attributes"
        await asyncio.to_thread(attributes.parent.mkdir, parents=True, exist_ok=True)
        await asyncio.to_thread(attributes.write_text, ATTRIBUTES, encoding="ascii")
        await self._ask("init", "--quiet", "--template=", "--bare", str(self._git_dir))

    async def _index_paths(self, how: str, paths: list[bytes]) -> None:
        given = b"".join(path + b"\0" for path in paths)
        await self._ask("update-index", "--add", how, "-z", "--stdin", given=given)

    async def _ask(
        self,
        *arguments: str,
        given: bytes = b"",
        limit_bytes: int = _MAX_LIST_BYTES,
        cut: bool = False,
    ) -> bytes:
        try:
            output = await self._git.run(*arguments, given=given, limit_bytes=limit_bytes)
        except ShadowGitOff as exc:
            _say_off(str(exc))
            raise SnapshotsOff(str(exc)) from exc
        except ShadowGitError as exc:
            raise SnapshotError(str(exc)) from exc
        if not output.whole and not cut:
            raise SnapshotError("the worktree has too many files")
        return output.data

    def _unlock(self) -> None:
        self._index.with_name(f"{self._index.name}.lock").unlink(missing_ok=True)


@cache
def _say_off(reason: str) -> None:
    logger.warning("snapshot.off no snapshots are taken, and no changes shown: %s", reason)


@dataclass(frozen=True)
class _Changed:
    there: list[bytes]
    gone: list[bytes]


def _look_at(worktree: Path, listed: bytes) -> _Changed:
    """Sort what git listed into what to record and what to forget. The rest is passed over."""
    root = os.fsencode(worktree)
    there, gone = dict[bytes, None](), dict[bytes, None]()
    real = cache(lambda folder: os.path.realpath(folder) == folder)
    for entry in listed.split(b"\0"):
        tag, _, path = entry.partition(b" ")
        # A nested repository is listed as a folder.
        if not path or path.endswith(b"/"):
            continue
        full = os.path.join(root, path)  # noqa: PTH118  bytes: names need not be text
        known = tag != b"?"
        # git does not follow a link on the way to a file, but it fails for good over one.
        info = _state(full) if real(os.path.dirname(full)) else None  # noqa: PTH120
        if info is None or not (stat.S_ISREG(info.st_mode) or stat.S_ISLNK(info.st_mode)):
            if known:
                gone[path] = None
        elif _is_wanted(info, known=known):
            there[path] = None
    return _Changed(list(there), list(gone))


def _state(path: bytes) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _is_wanted(info: os.stat_result, *, known: bool) -> bool:
    if stat.S_ISLNK(info.st_mode):
        return True
    # In the sandbox git has the server's user but none of its powers; over a file that it cannot
    # read it would fail as a whole.
    if info.st_uid == os.geteuid():
        readable = stat.S_IRUSR
    elif info.st_gid in {os.getegid(), *os.getgroups()}:
        readable = stat.S_IRGRP
    else:
        readable = stat.S_IROTH
    limit = MAX_FILE_BYTES if known else MAX_NEW_FILE_BYTES
    return bool(info.st_mode & readable) and info.st_size <= limit


_STATUS: dict[str, Literal["added", "modified", "deleted"]] = {"A": "added", "D": "deleted"}


def _read_changes(listed: str) -> list[tuple[FileChange, int]]:
    """Returns: the files by name, each with the number of patches that git writes for it."""
    letters, changes = dict[str, str](), list[tuple[FileChange, int]]()
    fields = iter(listed.split("\0"))
    for field in fields:
        if field.startswith(":"):
            letters[next(fields)] = field[-1]
        elif field:
            added, deleted, file = field.split("\t", 2)
            letter = letters.get(file, "M")
            change = FileChange(
                file=file,
                status=_STATUS.get(letter, "modified"),
                additions=int(added) if added.isdecimal() else 0,
                deletions=int(deleted) if deleted.isdecimal() else 0,
                patch="",
            )
            # A file that became a link is deleted and created.
            changes.append((change, 2 if letter == "T" else 1))
    return changes


def _split_patches(text: str) -> list[str]:
    patches = [patch for patch in re.split(r"(?m)^(?=diff --git )", text) if patch]
    # A limit may have cut the last one short.
    return patches if len(text.encode()) < _MAX_PATCHES_BYTES else patches[:-1]


def _with_patches(changes: list[tuple[FileChange, int]], patches: list[str]) -> list[FileChange]:
    owners = [n for n, (_, count) in enumerate(changes) for _ in range(count)]
    texts = [""] * len(changes)
    for owner, patch in zip_longest(owners, patches[: len(owners)], fillvalue=""):
        if isinstance(owner, int):
            texts[owner] += patch
    return [
        replace(change, patch="" if "\nBinary files " in text else text[:MAX_PATCH_CHARS])
        for (change, _), text in zip(changes, texts, strict=True)
    ]
