"""One file as the last commit has it, and what is thrown away for it, kept to be brought back."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Collection, Sequence

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError
from opencode_web.lib.hunks import HunkRange
from sessions.browse.changes import LITERAL_NAMES, head_of
from sessions.browse.file_scope import FileScope, Where, open_scope
from sessions.browse.index import changed_ranges, unstage_file, unstage_lines
from sessions.browse.review import diff_file
from sessions.checkouts.repository import CheckoutError, Repository
from sessions.events.removal import Restored
from sessions.git.snapshot_files import MAX_FILE_BYTES
from sessions.git.snapshots import SnapshotError, Snapshots
from sessions.models import Session
from sessions.runner.files.restore_plan import Entries, Plan
from tools.files.put_back import NotPutBack, TreeEntry, read_entry

_LINK, _SUBMODULE = "120000", "160000"


def names_of(file: str, old: str) -> list[str]:
    """Returns: the name of a file, and the one that it had before it was renamed."""
    return [file, *([old] if old and old != file else [])]


async def record_exactly(snapshots: Snapshots, tree: str, names: list[str]) -> str:
    """Returns: the tree with these files as they are, also large and ignored ones.

    Raises: SnapshotError, also for what cannot be kept.
    """
    entries = Entries()
    for name in names:
        path = _path(name)
        try:
            found = await asyncio.to_thread(
                read_entry, snapshots.worktree, path, max_bytes=MAX_FILE_BYTES
            )
        except NotPutBack as exc:
            raise SnapshotError(f"{name} stays as it is: {exc}") from exc
        entries[path] = found[0] if found else None
        if found:
            await snapshots.keep(found[1])
    return await snapshots.with_entries(tree, entries)


async def require_looked(session: Session, file: str, old: str, looked: str) -> None:
    """Raises: SnapshotError for a file that is not as somebody has seen it."""
    try:
        found = await diff_file(await _scope_of(session), "git", file, old)
    except AppError as exc:
        raise SnapshotError(str(exc)) from exc
    if found["stamp"] != looked:
        raise SnapshotError(f"{file} has changed meanwhile")


async def plan_last_commit(
    session: Session,
    snapshots: Snapshots,
    names: list[str],
    now: str,
    *,
    hunk: HunkRange | None = None,
) -> Plan:
    """These files as the last commit has them, where it has them. `now`: the tree as they are.

    `hunk`: only these lines of the first of them, where both have it. Raises: SnapshotError.
    """
    wanted, is_part = Entries(), False
    try:
        repository = await (await _scope_of(session)).repository()
        commit = await head_of(repository)
        for name in names:
            found = await _committed(repository, commit, name)
            wanted[_path(name)] = await _kept(snapshots, found)
        present = await snapshots.entries(now, wanted)
        there = present.get(_path(names[0]))
        if hunk and there and found:
            content = await snapshots.content(now, names[0], limit_bytes=MAX_FILE_BYTES)
            lines = await changed_ranges(repository, commit, names, hunk)
            merged = (there.mode, _with_lines(content or b"", found[1], lines))
            part = {_path(names[0]): await _kept(snapshots, merged)}
            is_part, wanted = part != wanted, part
            await unstage_lines(repository, commit, names[0], lines, "".join(names[1:]))
        else:
            await _unstage(repository, commit, names)
    except (AppError, CheckoutError) as exc:
        raise SnapshotError(str(exc)) from exc
    return Plan(wanted, {path: present.get(path) for path in wanted}, is_part=is_part)


async def undo_tree(
    snapshots: Snapshots, earlier: Restored | None, paths: Collection[bytes], now: str
) -> str:
    """Returns: what an undo goes back to, which is also from what went back of a file before, while
    it is still so; else the tree `now`. Raises: SnapshotError."""
    if earlier is None or not earlier.snapshot:
        return now
    trees = (earlier.snapshot, earlier.after, now)
    before, after, present = [await snapshots.entries(tree, paths) for tree in trees]
    if any(after.get(path) != present.get(path) for path in paths):
        return now
    return await snapshots.with_entries(now, {path: before.get(path) for path in paths})


async def _scope_of(session: Session) -> FileScope:
    return await in_db(open_scope, Where.of_session(session, cautious=False))


def _with_lines(content: bytes, committed: bytes, hunks: Sequence[HunkRange]) -> bytes:
    """The content with the committed lines of these hunks in place of its own."""
    lines, others = (io.BytesIO(data).readlines() for data in (content, committed))
    ends = [(one.new_span[1], one.old_span[1]) for one in hunks]
    if not ends or any(new > len(lines) or old > len(others) for new, old in ends):
        raise SnapshotError("there are no such lines")
    for one in reversed(hunks):
        (first, end), (old_first, old_end) = one.new_span, one.old_span
        lines[first:end] = others[old_first:old_end]
    return b"".join(lines)


async def _kept(snapshots: Snapshots, found: tuple[str, bytes] | None) -> TreeEntry | None:
    return TreeEntry(found[0], await snapshots.keep(found[1])) if found else None


async def _committed(repository: Repository, commit: str, name: str) -> tuple[str, bytes] | None:
    """Returns: its mode and content. Raises: CheckoutError; SnapshotError."""
    listed = await repository.ask("ls-tree", "-z", commit, "--", name, extra=LITERAL_NAMES)
    if not listed:
        return None
    mode = listed.split(" ", 1)[0]
    if mode == _SUBMODULE or not mode.startswith("1"):
        raise SnapshotError(f"{name} is a folder or another repository in the last commit")
    # As a checkout would write it: with the line ends that .gitattributes name.
    how = ("blob",) if mode == _LINK else ("--filters",)
    said = await repository.ask("cat-file", *how, f"{commit}:{name}")
    return mode, said.encode("utf-8", "surrogateescape")


async def _unstage(repository: Repository, commit: str, names: list[str]) -> None:
    """What is staged of a file would show, and be committed, beside the file that went back."""
    staged = ("diff-index", "--cached", "--name-only", commit, "--", *names)
    if await repository.ask(*staged, extra=LITERAL_NAMES):
        await unstage_file(repository, *names)


def _path(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")
