"""One file as the last commit has it, and what is thrown away for it, kept to be brought back."""

from __future__ import annotations

import asyncio

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError
from sessions.browse.changes import LITERAL_NAMES, head_of
from sessions.browse.file_scope import Where, open_scope
from sessions.checkouts.repository import CheckoutError, Repository
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


async def plan_last_commit(
    session: Session, snapshots: Snapshots, names: list[str], now: str
) -> Plan:
    """These files as the last commit has them, where it has them. `now`: the tree as they are.

    Raises: SnapshotError.
    """
    wanted = Entries()
    try:
        scope = await in_db(open_scope, Where.of_session(session, cautious=False))
        repository = await scope.repository()
        commit = await head_of(repository)
        for name in names:
            wanted[_path(name)] = await _committed(repository, commit, name, snapshots)
        await _unstage(repository, commit, names)
    except (AppError, CheckoutError) as exc:
        raise SnapshotError(str(exc)) from exc
    present = await snapshots.entries(now, wanted)
    return Plan(wanted, {path: present.get(path) for path in wanted})


async def _committed(
    repository: Repository, commit: str, name: str, snapshots: Snapshots
) -> TreeEntry | None:
    """Raises: CheckoutError; SnapshotError."""
    listed = await repository.ask("ls-tree", "-z", commit, "--", name, extra=LITERAL_NAMES)
    if not listed:
        return None
    mode = listed.split(" ", 1)[0]
    if mode == _SUBMODULE or not mode.startswith("1"):
        raise SnapshotError(f"{name} is a folder or another repository in the last commit")
    # As a checkout would write it: with the line ends that .gitattributes name.
    how = ("blob",) if mode == _LINK else ("--filters",)
    said = await repository.ask("cat-file", *how, f"{commit}:{name}")
    return TreeEntry(mode, await snapshots.keep(said.encode("utf-8", "surrogateescape")))


async def _unstage(repository: Repository, commit: str, names: list[str]) -> None:
    """What is staged of a file would show, and be committed, beside the file that went back."""
    staged = ("diff-index", "--cached", "--name-only", commit, "--", *names)
    if await repository.ask(*staged, extra=LITERAL_NAMES):
        await repository.ask("reset", "-q", "--", *names, writes=True, extra=LITERAL_NAMES)


def _path(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")
