"""What is done with a checkout: look at it, commit, merge, rescue and remove."""

from __future__ import annotations

import uuid
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from sessions.checkouts.create import GONE, known_commits, remove_tree
from sessions.checkouts.repository import STATUS, CheckoutError, Person, Repository
from sessions.checkouts.rescue import Rescued, keep, rescue, rescue_ref, stage_all, unlock_index
from sessions.events.checkout_reasons import CheckoutReason as Why

_SHOWN_FILES = 20


@dataclass(frozen=True)
class Looked:
    """How a checkout stands to the branch of the project that it came from.

    `ahead` and `behind` count commits; `dirty` counts files that are changed or not tracked.
    """

    head: str
    branch: str
    base: str
    ahead: int
    behind: int
    dirty: int


@dataclass(frozen=True)
class Repositories:
    """The three that work goes between. Whoever calls must hold the project's store lock."""

    project: Repository
    store: Repository
    checkout: Repository


async def base_tip(repositories: Repositories, base_branch: str) -> str:
    """The newest commit of the branch in the project, brought into the store.

    Raises: CheckoutError when the branch is gone.
    """
    name = f"refs/heads/{base_branch}" if base_branch else "HEAD"
    tip = await repositories.project.find(name)
    if tip is None and base_branch:
        tip = await repositories.project.find(f"refs/remotes/origin/{base_branch}")
    if tip is None:
        raise CheckoutError(Why.BASE_GONE, branch=base_branch)
    store = repositories.store
    await repositories.project.send(tip, store, known=await known_commits(store))
    return tip


async def look(repositories: Repositories, base_branch: str) -> Looked:
    """Compare a checkout with the project. Raises: CheckoutError."""
    checkout = repositories.checkout
    tip = await base_tip(repositories, base_branch)
    head = await checkout.find("HEAD")
    if head is None:
        raise CheckoutError(Why.NO_COMMIT)
    counted = await checkout.ask("rev-list", "--left-right", "--count", f"{tip}...{head}")
    behind, _, ahead = counted.strip().partition("\t")
    dirty = await count_dirty(checkout)
    return Looked(head, await checkout.branch(), tip, int(ahead), int(behind), dirty)


async def look_alone(own: Repository) -> Looked:
    """Look at the project's own folder, which is compared with nothing. Raises: CheckoutError."""
    head = await own.find("HEAD")
    if head is None:
        raise CheckoutError(Why.NO_FIRST_COMMIT)
    return Looked(head, await own.branch(), head, 0, 0, await count_dirty(own))


async def commit(
    checkout: Repository,
    *,
    message: str,
    person: Person,
    paths: list[str] | None = None,
    staged: bool = False,
    alone: bool = True,
) -> str:
    """Commit every file that is not ignored, only `paths`, or what is `staged`, in the name of
    `person`.

    `alone`: nothing else can be at work there, so a lock is that of a git which was killed.
    Returns: the commit. Raises: CheckoutError, also when there is nothing to commit.
    """
    if alone:
        unlock_index(checkout)
    unmerged = await checkout.ask("ls-files", "--unmerged", "-z")
    if unmerged:
        torn = dict.fromkeys(line.partition("\t")[2] for line in unmerged.split("\0") if line)
        raise CheckoutError(Why.CONFLICTS, paths=listed(torn))
    if staged:
        if not await checkout.ask("diff", "--cached", "--name-only", "-z", cut=True):
            raise CheckoutError(Why.NOTHING_STAGED)
    elif paths is None:
        await stage_all(checkout)
        tracked = ("status", "--porcelain", "-z", "--untracked-files=no")
        if not await checkout.ask(*tracked, cut=True):
            raise CheckoutError(Why.NOTHING_TO_COMMIT)
    else:
        await _stage_some(checkout, paths)
    # What somebody has staged beside the chosen ones stays staged.
    chosen = () if paths is None else ("--only", "--", *paths)
    await checkout.ask(
        *("--literal-pathspecs", "commit", "--quiet", "--no-verify", "--no-gpg-sign"),
        *("--cleanup=whitespace", "--file=-", *chosen),
        writes=True,
        given=message.encode(),
        extra=person.environment(),
    )
    head = await checkout.find("HEAD")
    assert head is not None
    return head


async def _stage_some(checkout: Repository, paths: list[str]) -> None:
    if await checkout.find("MERGE_HEAD"):
        raise CheckoutError(Why.MERGE_UNDER_WAY)
    unchanged = set(paths)
    async with aclosing(checkout.fields(*STATUS)) as said:
        async for lines in said:
            unchanged.difference_update(line[3:] for line in lines)
    if gone := [path for path in paths if path in unchanged]:
        raise CheckoutError(Why.UNCHANGED, paths=listed(gone))
    if not paths:
        raise CheckoutError(Why.NO_FILE)
    if nested := [path for path in paths if path.endswith("/")]:
        raise CheckoutError(Why.OWN_REPOSITORIES, paths=listed(nested))
    await checkout.ask("--literal-pathspecs", "add", "--all", "--", *paths, writes=True)


async def is_merged(repositories: Repositories, base_branch: str) -> bool:
    """Whether the branch of the project has every commit of the checkout's."""
    tip = await base_tip(repositories, base_branch)
    return await repositories.checkout.is_ancestor("HEAD", tip)


async def secure(
    repositories: Repositories, *, session_id: str, base_branch: str, title: str
) -> Rescued | None:
    """Make sure that everything in a checkout is merged or rescued before its folder is removed.

    Returns: what was rescued, None when everything is merged.
    Raises: CheckoutError when not all of it can be kept; then the folder has to stay.
    """
    checkout, store = repositories.checkout, repositories.store
    rescued = await rescue(checkout, title=title)
    try:
        whole = rescued.commit == rescued.head
        merged = whole and await is_merged(repositories, base_branch)
    except CheckoutError:
        # The branch is gone: what was merged into it is nowhere else.
        merged = False
    if merged:
        return None
    await checkout.send(rescued.commit, store, known=await known_commits(store))
    await keep(store, repositories.project, rescue_ref(session_id), rescued.commit)
    return rescued


async def count_dirty(checkout: Repository) -> int:
    """How many files are changed or not tracked."""
    return (await checkout.first_fields(0, *STATUS))[1]


def remove_folder(folder: Path) -> None:
    """Remove it as a whole: a worker that dies leaves it complete, or with another name."""
    gone = folder.with_name(f"{GONE}{uuid.uuid4().hex}")
    folder.rename(gone)
    remove_tree(gone)


def listed(paths: dict[str, None] | list[str]) -> str:
    """A few names for a sentence, and how many more there are."""
    names = list(paths)
    shown = ", ".join(name.encode("utf-8", "replace").decode() for name in names[:_SHOWN_FILES])
    more = len(names) - _SHOWN_FILES
    return f"{shown} and {more} more" if more > 0 else shown
