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
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import asdict
from functools import cache
from pathlib import Path

from django.conf import settings

from sessions.git.box import BoxedGitError, BoxedGitOff, Given
from sessions.git.shadow import ATTRIBUTES, ShadowGit
from sessions.git.snapshot_diffs import (
    MAX_FILES,
    MAX_NAME_CHARS,
    MAX_PATCHES_BYTES,
    RENAME_LIMIT,
    Changes,
    FileChange,
    Listing,
    Names,
    read_changes,
    read_renames,
    split_patches,
    with_patches,
)
from sessions.git.snapshot_entries import (
    EntryChange,
    PairsGone,
    read_entries,
    read_pairs,
    read_sizes,
    split_blobs,
)
from sessions.git.snapshot_files import LeftOut, look_at
from sessions.models import Session
from tools.files.put_back import TreeEntry

logger = logging.getLogger(__name__)

# git treats larger ones as binary, so it does not read them as a whole to compare them. Names are
# names, whatever characters they have.
_BIG = ("--literal-pathspecs", "-c", "core.bigFileThreshold=2m")
INDEX_PREFIX = "index-"
_MAX_LEFT_OUT = 50
_MAX_LIST_BYTES = 64 * 1024 * 1024
# So many files are recorded at once: each time git has its whole time for them.
_BATCH_FILES = 10_000
# More changed files are not put back: every one of them is in memory.
MAX_PUT_BACK = 300_000
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
        self._worktree = Path(os.path.realpath(session.worktree))
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
        left_out, batch = list[LeftOut](), list[bytes]()
        asked = ("ls-files", "-z", "-t", "-o", "-m", "-d", "--exclude-standard")
        try:
            # While git goes on looking, its listing waits for what is done with it here.
            async with aclosing(self._fields(*asked)) as listed:
                async for fields in listed:
                    batch += fields
                    if len(batch) >= _BATCH_FILES:
                        left_out = _newest([*left_out, *await self._index_batch(batch)])
                        batch = []
            left_out = _newest([*left_out, *await self._index_batch(batch)])
        finally:
            # Whatever ended git, a stop or a time limit, it is dead now and its lock binds nobody.
            self._unlock()
        await asyncio.to_thread(self._note, left_out)

    async def _index_batch(self, listed: list[bytes]) -> list[LeftOut]:
        looked = await asyncio.to_thread(look_at, self._worktree, listed)
        for how, paths in (("--force-remove", looked.gone), ("--replace", looked.there)):
            if paths:
                given = (path + b"\0" for path in paths)
                await self._ask("update-index", "--add", how, "-z", "--stdin", given=given)
        return looked.left_out

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
        """Keep it for people. It is no part of any snapshot, and may be lost."""
        if left_out or self._left.exists():
            rows = [asdict(one) for one in left_out]
            self._left.write_text(json.dumps(rows), encoding="utf-8")

    async def _write_tree(self) -> str:
        return (await self._ask("write-tree")).decode().strip()

    async def changes(
        self, before: str, after: str, *, own: Collection[str] | None = None
    ) -> Changes:
        """Returns: the files that differ; of `own` when they are given. Raises: SnapshotError."""
        changes, listing = await self._compare(before, after, only=own)
        only: list[str] = []
        if own is not None:
            # A name that is no text cannot be asked for.
            changes = [(one, 0 if "\ufffd" in one.file else count) for one, count in changes]
            only = ["--", *(one.file for one, count in changes if count)]
        files = list[FileChange]()
        if changes:
            said = await self._diff("--patch", before, after, only=only)
            files = with_patches(changes, split_patches(said))
        return Changes(files, listing.total, listing.additions, listing.deletions)

    async def counts(self, before: str, after: str, files: Collection[str]) -> list[FileChange]:
        """Returns: those of the files that differ, without patches. Raises: SnapshotError."""
        return [change for change, _ in (await self._compare(before, after, only=files))[0]]

    async def renames(
        self, before: str, after: str, files: Iterable[FileChange], *, least: str = "50%"
    ) -> list[FileChange]:
        """Find files that were renamed among those that differ. `least`: how similar they are.

        Returns: one change for two of `files`, with its patch. Raises: SnapshotError.
        """
        # A name that is no text cannot be asked for.
        known = {one.file: one.status for one in files if "\ufffd" not in one.file}
        names = [name for name, status in known.items() if status != "modified"]
        if not {"added", "deleted"} <= set(known.values()):
            return []
        options, only = (f"-M{least}", RENAME_LIMIT, "--diff-filter=R"), ("--", *names)
        said = await self._diff(*options, "--numstat", "-z", before, after, only=only)
        if not (found := read_renames(said.split("\0"))):
            return []
        said = await self._diff(*options, "--patch", before, after, only=only)
        changes = with_patches([(one, 1) for one in found], split_patches(said))
        return [one for one in changes if one.file in known and one.old in known]

    async def patch_of(self, before: str, after: str, names: Sequence[str], *options: str) -> str:
        """Returns: what git says about one file by its names, with options of its own, cut where it
        is long. Raises: SnapshotError.
        """
        return await self._diff(*options, "--patch", before, after, only=("--", *names))

    async def content(self, tree: str, file: str, *, limit_bytes: int) -> bytes | None:
        """Returns: a file of a tree, None for a larger one. Raises: SnapshotError; none is one."""
        _require_hashes(tree)
        asked = ("cat-file", "blob", f"{tree}:{file}")
        data = await self._ask(*asked, limit_bytes=limit_bytes, cut=True)
        return data if len(data) < limit_bytes else None

    async def entry_changes(self, pairs: Sequence[tuple[str, str]]) -> AsyncGenerator[EntryChange]:
        """Yields: what differs between the trees of each pair, in their order.

        Raises: SnapshotError, also at the end.
        """
        _require_hashes(*(tree for pair in pairs for tree in pair))
        given, count = (f"{before} {after}\n".encode() for before, after in pairs), 0
        asked = ("diff-tree", "--stdin", "-z", "--raw", *_EXACT)
        if not pairs:
            return
        try:
            async with aclosing(self._fields(*asked, given=given)) as said:
                async for change in read_pairs(said, len(pairs)):
                    count += 1
                    if count > MAX_PUT_BACK:
                        raise SnapshotError(f"more than {MAX_PUT_BACK:,} files have changed")
                    yield change
        except PairsGone as exc:
            raise SnapshotGone("a snapshot is not kept any more") from exc

    async def entries(self, tree: str, paths: Collection[bytes]) -> dict[bytes, TreeEntry]:
        """Returns: those of the paths that are in the tree. Raises: SnapshotError."""
        _require_hashes(tree)
        async with aclosing(self._fields("ls-tree", "-r", "-z", "--full-tree", tree)) as said:
            return await read_entries(said, paths)

    async def with_entries(self, tree: str, entries: Mapping[bytes, TreeEntry | None]) -> str:
        """Returns: the tree with these entries; None removes one. Raises: SnapshotError."""
        _require_hashes(tree, *(entry.hash for entry in entries.values() if entry))
        if not entries:
            return tree
        spare = self._git.with_index(self._index.with_name(f"{self._index.name}.made"))
        try:
            await self._ask("read-tree", tree, git=spare)
            # Removals first: a file may be in the place of a folder.
            given = sorted(_index_line(path, entry) for path, entry in entries.items())
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

    async def changed_files(self, before: str, after: str) -> Names:
        """Returns: the names of the files that differ. Raises: SnapshotError."""
        _require_hashes(before, after)
        names, total, room = list[str](), 0, MAX_NAME_CHARS
        asked = ("diff-tree", "-z", "--name-only", *_FLAGS, before, after)
        async with aclosing(_as_text(self._fields(*asked))) as said:
            async for fields in said:
                total += len(fields)
                for name in fields[: max(0, MAX_FILES - len(names))]:
                    room -= len(name)
                    if room >= 0:
                        names.append(name)
        return Names(names, total - len(names))

    async def _compare(
        self, before: str, after: str, *, only: Collection[str] | None = None
    ) -> tuple[list[tuple[FileChange, int]], Listing]:
        _require_hashes(before, after)
        listing = Listing(MAX_FILES, only=only)
        if before != after:
            asked = (*_BIG, "diff-tree", *_FLAGS, "--raw", "--numstat", "-z", before, after)
            await listing.read(_as_text(self._fields(*asked)))
        return read_changes(listing.kept), listing

    async def _diff(self, *arguments: str, only: Sequence[str] = ()) -> str:
        _require_hashes(*arguments[-2:])
        asked = (*_BIG, "diff-tree", *_FLAGS, *arguments, *only)
        data = await self._ask(*asked, limit_bytes=MAX_PATCHES_BYTES, cut=True)
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

    async def _ask(
        self,
        *arguments: str,
        given: Given = b"",
        limit_bytes: int = _MAX_LIST_BYTES,
        cut: bool = False,
        git: ShadowGit | None = None,
    ) -> bytes:
        with _told():
            output = await (git or self._git).run(*arguments, given=given, limit_bytes=limit_bytes)
        if not output.whole and not cut:
            raise SnapshotError("the worktree has too many files")
        return output.data

    async def _fields(self, *arguments: str, given: Given = b"") -> AsyncGenerator[list[bytes]]:
        with _told():
            async with aclosing(self._git.fields(*arguments, given=given)) as said:
                async for fields in said:
                    yield fields

    def _unlock(self) -> None:
        self._index.with_name(f"{self._index.name}.lock").unlink(missing_ok=True)


@contextmanager
def _told() -> Iterator[None]:
    """git's failures as ours."""
    try:
        yield
    except BoxedGitOff as exc:
        _say_off(str(exc))
        raise SnapshotsOff(str(exc)) from exc
    except BoxedGitError as exc:
        raise SnapshotError(str(exc)) from exc


async def _as_text(said: AsyncGenerator[list[bytes]]) -> AsyncGenerator[list[str]]:
    async with aclosing(said):
        async for fields in said:
            yield [field.decode("utf-8", "replace") for field in fields]


def _newest(left_out: list[LeftOut]) -> list[LeftOut]:
    return sorted(left_out, key=lambda one: one.changed_ms, reverse=True)[:_MAX_LEFT_OUT]


def _require_hashes(*trees: str) -> None:
    if not all(_HASH.fullmatch(tree) for tree in trees):
        raise SnapshotError("that is not the hash of a snapshot")


def _index_line(path: bytes, entry: TreeEntry | None) -> bytes:
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
