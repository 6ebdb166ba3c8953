"""Operations on rescued work, in the project's repository."""

from __future__ import annotations

from sessions.checkouts.repository import CheckoutError, Repository
from sessions.checkouts.rescue import BASE_REF, NEWER_REF, rescue_ref
from sessions.events.checkout_reasons import CheckoutReason as Why

_NOTHING = {"sha1": "0" * 40, "sha256": "0" * 64}


async def put_on_branch(project: Repository, commit: str, name: str) -> None:
    """Make a new branch at the rescued commit. Doing it again changes nothing.

    Raises: CheckoutError when there is another branch of that name, or the work is gone.
    """
    if await project.find(commit) is None:
        raise CheckoutError(Why.RESCUED_GONE)
    ref = f"refs/heads/{name}"
    there = await project.find(ref)
    if there == commit:
        return
    if there is not None:
        raise CheckoutError(Why.PROJECT_HAS_BRANCH, branch=name)
    # Fails if somebody else has made it in the meantime.
    nothing = _NOTHING[project.object_format]
    await project.ask("update-ref", "--no-deref", ref, commit, nothing, writes=True)


async def forget(project: Repository, store: Repository, session_id: str) -> None:
    """Remove the refs that keep the rescued work of a session. Raises: CheckoutError."""
    for repository in (project, store):
        if repository is store and not store.git_dir.is_dir():
            continue
        for ref in (
            rescue_ref(session_id),
            *(f"{one}{session_id}" for one in (BASE_REF, NEWER_REF)),
        ):
            # Without the ref that is no failure.
            await repository.ask("update-ref", "--no-deref", "-d", ref, writes=True)
