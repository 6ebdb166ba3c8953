"""The shadow git repository of a worktree: what its files were at a moment, and what changed since.

It has a git dir of its own below the data folder; the project's own repository is never touched.
Every session has its own index, so that two sessions of a project do not wait for each other.

Everything in the worktree is hostile. git runs in a sandbox (`boxed_git`), and it is never told to
add a folder: it lists files, and only files and links that were looked at here go into the index.
So there is never a nested repository in it for git to enter and to obey.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import stat
from collections.abc import AsyncGenerator, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from django.conf import settings

from sessions.boxed_git import BoxedGitError, BoxedGitOff
from sessions.models import Session
from sessions.shadow_git import ATTRIBUTES, ShadowGit
from sessions.snapshot_diffs import (
    MAX_PATCHES_BYTES,
    FileChange,
    read_changes,
    split_patches,
    with_patches,
)
from sessions.snapshot_entries import (
    EntryChange,
    read_entries,
    read_pairs,
    read_sizes,
    split_blobs,
)
from tools.put_back import Entry

logger = logging.getLogger(__name__)

# A file that is not in the index yet stays out of it above this. Source: OpenCode's snapshots.
MAX_NEW_FILE_BYTES = 2 * 1024 * 1024
# One that is in the index keeps its older state there above this.
MAX_FILE_BYTES = 32 * 1024 * 1024
# git treats larger ones as binary, so it does not read them as a whole to compare them.
_MAX_DIFF_FILE = "2m"
INDEX_PREFIX = "index-"
_MAX_LEFT_OUT = 50
_MAX_LIST_BYTES = 64 * 1024 * 1024
# Blobs that are in memory at once.
_MAX_BATCH_BYTES = 16 * 1024 * 1024
_HASH = re.compile(r"[0-9a-f]{40,64}")
_EXACT = ("-r", "--no-renames", "--no-abbrev")
_FLAGS = ("-r", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")


class SnapshotError(Exception):
    """git could not do it. A turn goes on without the snapshot."""


class SnapshotsOff(SnapshotError):
    """No snapshot of this worktree is ever taken on this host. It has been logged once."""


class SnapshotGone(SnapshotError):
    """A snapshot is not kept any more, or was taken elsewhere."""


class Snapshots:
    """Snapshots for one session's worktree. Only the owner of the session's lease takes any."""

    def __init__(self, session: Session) -> None:
        root = Path(os.path.realpath(settings.DATA_DIR))
        self._git_dir = root / "snapshots" / session.files_id
        self._index = self._git_dir / f"{INDEX_PREFIX}{session.pk}"
        self._left = self._git_dir / f"{INDEX_PREFIX}{session.pk}.left"
        self._worktree = Path(os.path.realpath(session.directory))
        self._git = ShadowGit(self._worktree, self._git_dir, self._index)

    @property
    def git_dir(self) -> Path:
        """Of the shadow repository."""
        return self._git_dir

    @property
    def worktree(self) -> Path:
        """Without links."""
        return self._worktree

    async def track(self) -> str:
        """Record the worktree as it is, without what its .gitignore leaves out, large new files
        and nested repositories.

        Returns: the tree's hash. Raises: SnapshotError.
        """
        await self._prepare()
        await self._record()
        try:
            return await self._write_tree()
        except SnapshotError:
            # What the index names is gone, after a repair of the disk say. It is no truth.
            self._index.unlink(missing_ok=True)
            await self._record()
            return await self._write_tree()

    async def _record(self) -> None:
        listed = await self._ask("ls-files", "-z", "-t", "-o", "-m", "-d", "--exclude-standard")
        changed = await asyncio.to_thread(_look_at, self._worktree, listed)
        await asyncio.to_thread(self._note, changed.left_out)
        try:
            if changed.gone:
                await self._index_paths("--force-remove", changed.gone)
            if changed.there:
                await self._index_paths("--replace", changed.there)
        finally:
            # Whatever ended git, a stop or a time limit, it is dead now and its lock binds nobody.
            self._unlock()

    async def left_out(self, since_ms: int) -> list[LeftOut]:
        """Returns: the files that the newest snapshot is without, of those changed since then."""

        def read() -> list[LeftOut]:
            try:
                rows = json.loads(self._left.read_text(encoding="utf-8"))
            except FileNotFoundError:
                return []
            return [LeftOut(**row) for row in rows if row["changed_ms"] >= since_ms]

        return await asyncio.to_thread(read)

    def _note(self, left_out: list[LeftOut]) -> None:
        """Keep the newest for people. It is no part of any snapshot, and may be lost."""
        newest = sorted(left_out, key=lambda one: one.changed_ms, reverse=True)[:_MAX_LEFT_OUT]
        if newest or self._left.exists():
            rows = [asdict(one) for one in newest]
            self._left.write_text(json.dumps(rows), encoding="utf-8")

    async def _write_tree(self) -> str:
        return (await self._ask("write-tree")).decode().strip()

    async def changes(self, before: str, after: str) -> list[FileChange]:
        """Returns: the files that differ, by name. Raises: SnapshotError."""
        changes = await self._compare(before, after)
        if not changes:
            return []
        patches = split_patches(await self._diff("--patch", before, after, cut=True))
        return with_patches(changes, patches)

    async def counts(self, before: str, after: str) -> list[FileChange]:
        """Returns: as `changes`, without patches. Raises: SnapshotError."""
        return [change for change, _ in await self._compare(before, after)]

    async def patch_of(self, before: str, after: str, file: str, *options: str) -> str:
        """Returns: what git says about one file, with options of its own, cut where it is long.

        Raises: SnapshotError.
        """
        names = (*options, "--patch", before, after)
        return await self._diff(*names, cut=True, only=("--", file))

    async def content(self, tree: str, file: str, *, limit_bytes: int) -> bytes | None:
        """Returns: a file of a tree, None for a larger one. Raises: SnapshotError; none is one."""
        _require_hashes(tree)
        asked = ("cat-file", "blob", f"{tree}:{file}")
        data = await self._ask(*asked, limit_bytes=limit_bytes, cut=True)
        return data if len(data) < limit_bytes else None

    async def entry_changes(self, pairs: Sequence[tuple[str, str]]) -> list[list[EntryChange]]:
        """Returns: what differs between the trees of each pair. Raises: SnapshotError."""
        if not pairs:
            return []
        _require_hashes(*(tree for pair in pairs for tree in pair))
        given = "".join(f"{before} {after}\n" for before, after in pairs).encode()
        listed = await self._ask("diff-tree", "--stdin", "-z", "--raw", *_EXACT, given=given)
        found = read_pairs(listed, pairs)
        if found is None:
            raise SnapshotGone("a snapshot is not kept any more")
        return found

    async def entries(self, tree: str, paths: Collection[bytes]) -> dict[bytes, Entry]:
        """Returns: those of the paths that are in the tree. Raises: SnapshotError."""
        _require_hashes(tree)
        return read_entries(await self._ask("ls-tree", "-r", "-z", "--full-tree", tree), paths)

    async def with_entries(self, tree: str, entries: Mapping[bytes, Entry | None]) -> str:
        """Returns: the tree with these entries; None removes one. Raises: SnapshotError."""
        _require_hashes(tree, *(entry.hash for entry in entries.values() if entry))
        if not entries:
            return tree
        spare = self._git.with_index(self._index.with_name(f"{self._index.name}.made"))
        try:
            await self._ask("read-tree", tree, git=spare)
            # Removals first: a file may be in the place of a folder.
            lines = sorted(_index_line(path, entry) for path, entry in entries.items())
            given = b"".join(lines)
            await self._ask("update-index", "-z", "--index-info", given=given, git=spare)
            return (await self._ask("write-tree", git=spare)).decode().strip()
        finally:
            for name in (spare.index, spare.index.with_name(f"{spare.index.name}.lock")):
                name.unlink(missing_ok=True)

    async def keep(self, content: bytes) -> str:
        """Returns: the hash of the blob with this content. Raises: SnapshotError."""
        await self._prepare()
        return (await self._ask("hash-object", "-w", "--stdin", given=content)).decode().strip()

    async def contents(self, hashes: Collection[str]) -> AsyncGenerator[tuple[str, bytes], None]:
        """Yields each blob with its content, few at a time. Raises: SnapshotError before any."""
        _require_hashes(*hashes)
        given = "".join(f"{blob}\n" for blob in hashes).encode()
        sizes = read_sizes(await self._ask("cat-file", "--batch-check", given=given))
        if sizes is None:
            raise SnapshotGone("a snapshot is not kept any more")
        for batch in _batches(sizes):
            asked = "".join(f"{blob}\n" for blob in batch).encode()
            # The head of each blob is a line of its own.
            room = sum(sizes[blob] + 100 for blob in batch)
            data = await self._ask("cat-file", "--batch", given=asked, limit_bytes=room)
            for found in split_blobs(data):
                yield found

    async def changed_files(self, before: str, after: str) -> list[str]:
        """Returns: the names of the files that differ. Raises: SnapshotError."""
        return [change.file for change, _ in await self._compare(before, after)]

    async def _compare(self, before: str, after: str) -> list[tuple[FileChange, int]]:
        if before == after:
            return []
        return read_changes(await self._diff("--raw", "--numstat", "-z", before, after))

    async def _diff(self, *arguments: str, cut: bool = False, only: tuple[str, ...] = ()) -> str:
        _require_hashes(*arguments[-2:])
        # Names are names, whatever characters they have.
        limit = ("--literal-pathspecs", "-c", f"core.bigFileThreshold={_MAX_DIFF_FILE}")
        size = MAX_PATCHES_BYTES if cut else _MAX_LIST_BYTES
        asked = (*limit, "diff-tree", *_FLAGS, *arguments, *only)
        data = await self._ask(*asked, limit_bytes=size, cut=cut)
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
        git: ShadowGit | None = None,
    ) -> bytes:
        try:
            output = await (git or self._git).run(*arguments, given=given, limit_bytes=limit_bytes)
        except BoxedGitOff as exc:
            _say_off(str(exc))
            raise SnapshotsOff(str(exc)) from exc
        except BoxedGitError as exc:
            raise SnapshotError(str(exc)) from exc
        if not output.whole and not cut:
            raise SnapshotError("the worktree has too many files")
        return output.data

    def _unlock(self) -> None:
        self._index.with_name(f"{self._index.name}.lock").unlink(missing_ok=True)


def _require_hashes(*trees: str) -> None:
    if not all(_HASH.fullmatch(tree) for tree in trees):
        raise SnapshotError("that is not the hash of a snapshot")


def _index_line(path: bytes, entry: Entry | None) -> bytes:
    # Mode 0 removes, and sorts first.
    mode, blob = (entry.mode, entry.hash) if entry else ("0", "0" * 40)
    return f"{mode} {blob}\t".encode() + path + b"\0"


def _batches(sizes: Mapping[str, int]) -> Iterator[list[str]]:
    batch, room = list[str](), _MAX_BATCH_BYTES
    for blob, size in sizes.items():
        if batch and size > room:
            yield batch
            batch, room = [], _MAX_BATCH_BYTES
        batch.append(blob)
        room -= size
    if batch:
        yield batch


@cache
def _say_off(reason: str) -> None:
    logger.warning("snapshot.off no snapshots are taken, and no changes shown: %s", reason)


@dataclass(frozen=True)
class LeftOut:
    """A large new file that is in no snapshot. `changed_ms` is by the clock of its host."""

    file: str
    size_bytes: int
    changed_ms: int


@dataclass(frozen=True)
class _Changed:
    there: list[bytes]
    gone: list[bytes]
    left_out: list[LeftOut]


def _look_at(worktree: Path, listed: bytes) -> _Changed:
    """Sort what git listed into what to record and what to forget. The rest is passed over."""
    root = os.fsencode(worktree)
    there, gone, left_out = dict[bytes, None](), dict[bytes, None](), list[LeftOut]()
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
        elif not known and info.st_size > MAX_NEW_FILE_BYTES:
            name, changed_ms = path.decode("utf-8", "replace"), info.st_ctime_ns // 1_000_000
            left_out.append(LeftOut(name, info.st_size, changed_ms))
    return _Changed(list(there), list(gone), left_out)


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
