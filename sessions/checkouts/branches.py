"""Put the work on another branch. No file changes by that, committed or not."""

from __future__ import annotations

from sessions.checkouts.repository import CheckoutError, Repository

_NONE = "0" * 40


async def switch_branch(own: Repository, project: Repository, name: str, *, rename: bool) -> None:
    """Begin a branch where the work is and go on there; with `rename` the one it was on ends.

    Not by `git branch`, which would write into a config that is covered.
    Raises: CheckoutError when there is such a branch, or one that its name would collide with.
    """
    head, before = await own.find("HEAD"), await own.branch()
    if head is None:
        raise CheckoutError("There is no commit yet, so there is no branch to go on from.")
    if before == name:
        return
    if rename and not before:
        raise CheckoutError("It is on no branch that could be renamed. Make a new one.")
    for repository in (own, project):
        for place in ("refs/heads", "refs/remotes/origin"):
            if await repository.find(f"{place}/{name}"):
                raise CheckoutError(f"There is a branch {name} already. Take another name.")
    none = _NONE if own.object_format == "sha1" else "0" * 64
    await own.ask("update-ref", f"refs/heads/{name}", head, none, writes=True)
    await own.ask("symbolic-ref", "HEAD", f"refs/heads/{name}", writes=True)
    if rename:
        await own.ask("update-ref", "-d", f"refs/heads/{before}", head, writes=True)
