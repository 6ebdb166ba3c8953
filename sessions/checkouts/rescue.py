"""Rescue the unmerged work of a checkout, so that its folder can be removed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sessions.checkouts.repository import CheckoutError, Person, Repository
from sessions.events.checkout_reasons import CheckoutReason as Why

BASE_REF = "refs/opencode/base/"
# What a pull request has now whose worktree could not be brought to it.
NEWER_REF = "refs/opencode/newer/"
RESCUE_REF = "refs/opencode/rescue/"
_GITLINK = "160000"
_SERVER = Person("OpenCode Web", "opencode-web@localhost")


@dataclass(frozen=True)
class Rescued:
    """A rescued state: `commit` has the files as they were, `head` is the commit they were over."""

    commit: str
    head: str


def rescue_ref(session_id: str) -> str:
    """The name of a session's rescue branch."""
    return f"{RESCUE_REF}{session_id}"


async def rescue(checkout: Repository, *, title: str) -> Rescued:
    """Put the whole state of a checkout into one commit of its own: files, commits of every branch.

    What .gitignore leaves out is not in it. Nothing of the checkout's own branches changes.
    Raises: CheckoutError when not all of it can be kept.
    """
    head = await checkout.find("HEAD")
    if head is None:
        raise CheckoutError(Why.NO_COMMIT)
    unlock_index(checkout)
    tree = await _write_tree(checkout)
    others = await _other_tips(checkout, head)
    clean = tree == (await checkout.ask("rev-parse", f"{head}^{{tree}}")).strip()
    if clean and not others:
        return Rescued(head, head)
    lines = [f"Rescued work: {title}", "", "The files of a session as they were."]
    lines += [f"Also has: {tip}" for tip in others]
    parents = [argument for tip in (head, *others) for argument in ("-p", tip)]
    said = await checkout.ask(
        *("commit-tree", tree, *parents),
        writes=True,
        given="\n".join(lines).encode(),
        extra=_SERVER.environment(),
    )
    return Rescued(said.strip(), head)


async def keep(store: Repository, project: Repository | None, ref: str, commit: str) -> None:
    """Point the rescue ref at what was sent to the store, in the project's repository as well."""
    await store.ask("update-ref", "--no-deref", ref, commit, writes=True)
    if project is not None:
        known = [tip for tip in (await project.find("HEAD"),) if tip]
        await store.send(commit, project, known=known)
        await project.ask("update-ref", "--no-deref", ref, commit, writes=True)


async def stage_all(checkout: Repository, *, extra: dict[str, str] | None = None) -> None:
    """Put every file that is not ignored into the index. Raises: CheckoutError."""
    try:
        await checkout.ask("add", "--all", writes=True, extra=extra)
    except CheckoutError as exc:
        raise CheckoutError(Why.NOT_KEPT, why=str(exc)) from exc
    nested = await _gitlinks(checkout, extra)
    if nested:
        listed = ", ".join(nested[:5])
        raise CheckoutError(Why.REPOSITORIES_INSIDE, paths=listed)


async def _write_tree(checkout: Repository) -> str:
    # What somebody has staged stays staged.
    with own_index(checkout, "index.rescue") as index:
        await checkout.ask("read-tree", "HEAD", writes=True, extra=index)
        await stage_all(checkout, extra=index)
        return (await checkout.ask("write-tree", writes=True, extra=index)).strip()


@contextlib.contextmanager
def own_index(repository: Repository, name: str) -> Iterator[dict[str, str]]:
    """An index beside the repository's own, for as long as the block. Only one at a time.

    Returns: the environment in which git uses it. What a git that was killed left of it is removed.
    """
    _remove_index(repository, name)
    try:
        yield {"GIT_INDEX_FILE": str(repository.git_dir / name)}
    finally:
        _remove_index(repository, name)


def _remove_index(repository: Repository, name: str) -> None:
    for left in (name, f"{name}.lock"):
        remove_beneath(repository.git_dir, left)


async def _gitlinks(checkout: Repository, extra: dict[str, str] | None) -> list[str]:
    """Returns: repositories in the index that the commit it is over does not have as submodules."""
    asked = ("diff-index", "--cached", "--raw", "-z", "--no-renames", "--ignore-submodules=none")
    found, entry = list[str](), ""
    async with contextlib.aclosing(checkout.fields(*asked, "HEAD", extra=extra)) as said:
        async for fields in said:
            for one in fields:
                # After each entry comes its path.
                if entry and entry.split(" ")[1] == _GITLINK:
                    found.append(one)
                entry = "" if entry else one
    return found


async def _other_tips(checkout: Repository, head: str) -> list[str]:
    """Returns: commits of other branches, and stashes, that are neither in `head` nor in the store.

    The store's own are those of its refs: whatever the checkout was made from is among them.
    """
    said = await checkout.ask("for-each-ref", "--format=%(objectname)", "refs/heads", "refs/stash")
    tips = [tip for tip in dict.fromkeys(said.split()) if tip != head]
    if not tips:
        return []
    lent = await Repository(
        checkout.lends.parent if checkout.lends else checkout.git_dir,
        object_format=checkout.object_format,
    ).ask("for-each-ref", "--format=^%(objectname)")
    given = "\n".join([*tips, f"^{head}", *dict.fromkeys(lent.split())])
    said = await checkout.ask("rev-list", "--stdin", given=given.encode())
    missing = set(said.split())
    return [tip for tip in tips if tip in missing]


def unlock_index(checkout: Repository) -> None:
    """Remove the lock of a git that was killed. Only while nothing else works in the checkout."""
    remove_beneath(checkout.git_dir, "index.lock")


def remove_beneath(git_dir: Path, name: str) -> None:
    """Remove a file of a git dir that a command could have replaced by a link."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        folder = os.open(git_dir, flags)
    except OSError:
        return
    try:
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=folder)
    finally:
        os.close(folder)
