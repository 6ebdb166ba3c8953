"""Merge a checkout's branch into the branch of the project that it came from."""

from __future__ import annotations

from dataclasses import dataclass

from sessions.checkouts.create import known_commits
from sessions.checkouts.operations import Repositories, base_tip, listed
from sessions.checkouts.repository import CheckoutError, Person, Repository
from sessions.checkouts.rescue import own_index, unlock_index
from sessions.events.checkout_reasons import CheckoutReason as Why

# In the store, while the project's own files are being changed.
_MOVING = "refs/opencode/moving"
_CACHED = ("diff-index", "--cached", "--name-only", "-z", "--no-renames")


class MergeConflict(CheckoutError):
    """Both sides changed the same places of `files`. Nothing was changed."""

    def __init__(self, files: list[str]) -> None:
        super().__init__(
            f"Both sides changed: {listed(files)}. Nothing was merged. Have the session bring its "
            "branch up to date and solve the conflicts, then merge again."
        )
        self.files = files


@dataclass(frozen=True)
class Merged:
    """`commit` is the project's branch now. Without `forwarded` it is a merge commit."""

    commit: str
    head: str
    forwarded: bool


async def merge(
    repositories: Repositories,
    base_branch: str,
    *,
    person: Person,
    message: str,
    head: str | None = None,
) -> Merged:
    """Bring the commits of a checkout, up to `head` or all, into the project's branch, and its
    files if they are shown.

    Raises: MergeConflict; CheckoutError when there is nothing to merge, and when the project's own
    files have changes that it would touch. Nothing is changed then.
    """
    store, checkout, project = repositories.store, repositories.checkout, repositories.project
    if not base_branch:
        raise CheckoutError(Why.NO_BASE)
    await finish_move(repositories)
    tip = await base_tip(repositories, base_branch)
    head = head or await checkout.find("HEAD")
    if head is None:
        raise CheckoutError(Why.NO_COMMIT)
    await checkout.send(head, store, known=await known_commits(store))
    if await store.is_ancestor(head, tip):
        raise CheckoutError(Why.HAS_ALL, branch=base_branch)
    forwarded = await store.is_ancestor(tip, head)
    result = head if forwarded else await _merge_commit(store, tip, head, person, message)
    await _require_clean(project, base_branch, tip)
    await store.send(result, project, known=[tip])
    await _move(repositories, base_branch, old=tip, new=result)
    return Merged(result, head, forwarded)


async def _merge_commit(
    store: Repository, tip: str, head: str, person: Person, message: str
) -> str:
    # The store has a config of ours: no driver of the repository merges anything.
    said = await store.ask(
        *("-c", "merge.conflictStyle=merge", "merge-tree", "--write-tree"),
        *("--name-only", "-z", "--no-messages", tip, head),
        writes=True,
        fine=(0, 1),
    )
    tree, *files = said.rstrip("\0").split("\0")
    if files:
        raise MergeConflict(files)
    made = await store.ask(
        *("commit-tree", tree, "-p", tip, "-p", head),
        writes=True,
        given=message.encode(),
        extra=person.environment(),
    )
    return made.strip()


async def _require_clean(project: Repository, base_branch: str, tip: str) -> None:
    """Raises: CheckoutError when the project shows this branch, with changes of its own."""
    if await project.branch() != base_branch:
        return
    status = await project.ask("status", "--porcelain", "-z", "--no-renames", "-uno")
    if changed := [line[3:] for line in status.split("\0") if line]:
        raise CheckoutError(Why.PROJECT_DIRTY, paths=listed(changed))


async def _move(repositories: Repositories, branch: str, *, old: str, new: str) -> None:
    """Point the branch at its new commit, with the files where they are shown."""
    project, store = repositories.project, repositories.store
    if await project.branch() != branch:
        await project.ask("update-ref", f"refs/heads/{branch}", new, old, writes=True)
        return
    # If this process dies, the next one knows what was under way.
    await store.ask("update-ref", _MOVING, new, writes=True)
    try:
        await project.ask("merge", "--ff-only", "--quiet", new, writes=True)
    except CheckoutError as exc:
        raise CheckoutError(Why.NOT_UP_TO_DATE, why=str(exc)) from exc
    finally:
        # Not on a cancel: then the folder may be half way.
        if await project.find("HEAD") in (old, new) and not await _is_dirty(project):
            await store.ask("update-ref", "-d", _MOVING, writes=True)


async def _is_dirty(project: Repository) -> bool:
    asked = ("status", "--porcelain", "-z", "--no-renames", "-uno")
    return bool(await project.ask(*asked, cut=True))


async def finish_move(repositories: Repositories) -> None:
    """Bring to its end what a dead worker has begun in the project's folder.

    Raises: CheckoutError when somebody has changed one of those files since.
    """
    project, store = repositories.project, repositories.store
    new, old = await store.find(_MOVING), await project.find("HEAD")
    if new is None:
        return
    if old is not None and old != new and await store.is_ancestor(old, new):
        unlock_index(project)
        said = await project.ask("diff-tree", "-r", "-z", "--no-renames", "--name-only", old, new)
        await _refuse_foreign(project, said, old, new)
        update = ("--literal-pathspecs", "checkout", "--quiet", "--no-overlay")
        paths = ("--pathspec-from-file=-", "--pathspec-file-nul", new)
        await project.ask(*update, *paths, writes=True, given=_encoded(said))
        await project.ask("update-ref", "HEAD", new, old, writes=True)
    await store.ask("update-ref", "-d", _MOVING, writes=True)


async def _refuse_foreign(project: Repository, paths: str, old: str, new: str) -> None:
    """Raises: CheckoutError for files that are neither as before nor as they shall be."""
    with own_index(project, "index.moving") as index:
        await project.ask("read-tree", old, writes=True, extra=index)
        record = ("update-index", "--add", "--remove", "-z", "--stdin")
        await project.ask(*record, writes=True, extra=index, given=_encoded(paths))
        differing = [
            set((await project.ask(*_CACHED, commit, extra=index)).split("\0"))
            for commit in (old, new)
        ]
    if foreign := sorted((differing[0] & differing[1] & set(paths.split("\0"))) - {""}):
        raise CheckoutError(Why.MERGE_CUT, paths=listed(foreign))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
